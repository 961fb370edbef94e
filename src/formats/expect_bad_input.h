// For tests: checks that a text is refused at an exact place.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "assay/format.h"

namespace assay::internal::formats {

inline void expect_bad_input(const std::string& format, std::string_view text, uint64_t line,
                             uint64_t column, const std::string& message_part) {
  auto read = read_history_text(text, "file", {format});
  ASSERT_FALSE(read.ok()) << text;
  EXPECT_EQ(read.error().kind, ErrorKind::bad_input) << text;
  EXPECT_EQ(read.error().file, "file") << text;
  EXPECT_EQ(read.error().line, line) << text << "\n" << read.error().message;
  EXPECT_EQ(read.error().column, column) << text << "\n" << read.error().message;
  EXPECT_NE(read.error().message.find(message_part), std::string::npos) << text << "\n"
                                                                        << read.error().message;
}

}  // namespace assay::internal::formats
