// For tests: checks that a text in some format is the same history as one in `.hist`, and that a
// format keeps the histories that it can hold.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "assay/format.h"
#include "formats/mixed_history.h"

namespace assay::internal::formats {

inline void expect_same_history(const std::string& format, std::string_view text,
                                std::string_view hist) {
  auto a = read_history_text(text, "file", {format});
  ASSERT_TRUE(a.ok()) << a.error().to_string();
  auto b = read_history_text(hist, "want", {"hist"});
  ASSERT_TRUE(b.ok()) << b.error().to_string();
  std::string as_hist;
  ASSERT_TRUE(write_history_text(a->history, "hist", as_hist).ok());
  EXPECT_EQ(a->history.content_hash(), b->history.content_hash()) << as_hist;
}

// Checks that random register histories, once they have passed through the format, are written and
// read back unchanged.
inline void expect_stable_round_trip(const std::string& format, MixedHistoryOptions options) {
  options.strings = false;
  options.registers_only = true;
  options.unknown = false;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    History h = MixedHistory(seed, options).build();
    std::string first, second;
    ASSERT_TRUE(write_history_text(h, format, first).ok());
    auto once = read_history_text(first, "once", {format});
    ASSERT_TRUE(once.ok()) << once.error().to_string() << "\n" << first;
    ASSERT_EQ(once->history.op_count(), h.op_count()) << first;
    ASSERT_TRUE(write_history_text(once->history, format, second).ok());
    auto twice = read_history_text(second, "twice", {format});
    ASSERT_TRUE(twice.ok()) << twice.error().to_string() << "\n" << second;
    EXPECT_EQ(once->history.content_hash(), twice->history.content_hash()) << first << second;
  }
}

}  // namespace assay::internal::formats
