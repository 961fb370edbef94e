#include "base/printable.h"

#include <gtest/gtest.h>

#include <string>

#include "assay/result.h"
#include "base/json.h"
#include "base/utf8.h"

namespace assay::internal {
namespace {

TEST(Printable, WhatIsSeenStays) {
  EXPECT_EQ(printable("x = 5, ä, 日本, 🙂, e\u0301"), "x = 5, ä, 日本, 🙂, e\u0301");
}

TEST(Printable, WhatRepaintsHidesOrTurnsRoundIsAnEscape) {
  EXPECT_EQ(printable("a\x1b[31m\x07"), "a\\x1b[31m\\x07");
  EXPECT_EQ(printable("\u007f\u009b"), "\\u007f\\u009b");
  EXPECT_EQ(printable("\u202eabc\u2066"), "\\u202eabc\\u2066");
  EXPECT_EQ(printable("a\u200bb\ufeff"), "a\\u200bb\\ufeff");
  EXPECT_EQ(printable("a\u2028b\u2029"), "a\\u2028b\\u2029");
  EXPECT_EQ(printable("\U000E0041"), "\\udb40\\udc41");
  EXPECT_EQ(printable("\x9b\xff"), "\\x9b\\xff") << "bytes that are no character";
}

TEST(Printable, LinesStayOnlyIfTheTextIsOurs) {
  EXPECT_EQ(printable("a\nb\tc"), "a\\x0ab\\x09c");
  EXPECT_EQ(printable_lines("a\nb\tc\r"), "a\nb\tc\\x0d");
}

TEST(Printable, AnEscapeInJsonMeansTheCharacter) {
  const Json name = Json(std::string("\u202e \u007f \U000E0041 \x1b"));
  const std::string shown = printable_lines(name.dump());
  EXPECT_EQ(shown.find("\u202e"), std::string::npos);
  EXPECT_EQ(Json::parse(shown), name);
}

TEST(Printable, AnErrorIsOneLineWhateverItQuotes) {
  Error e = bad_input("unknown transaction a\x1b[31m\nassay: fine\u202e", 1, 2);
  e.file = "f\x1b.jsonl";
  EXPECT_EQ(e.to_string(),
            "f\\x1b.jsonl:1:2: unknown transaction a\\x1b[31m\\x0aassay: fine\\u202e");
}

TEST(Printable, CodesOfCharacters) {
  for (const uint32_t code : {0x41u, 0xE4u, 0x202Eu, 0x1F642u, 0x10FFFFu}) {
    std::string text;
    append_utf8(text, code);
    EXPECT_EQ(utf8_length(text), text.size());
    EXPECT_EQ(utf8_code(text, text.size()), code);
  }
}

}  // namespace
}  // namespace assay::internal
