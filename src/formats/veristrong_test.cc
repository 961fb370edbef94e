#include <gtest/gtest.h>

#include "assay/format.h"
#include "formats/expect_bad_input.h"
#include "formats/expect_same_history.h"

namespace assay::internal {
namespace {

TEST(Veristrong, AppendsAndReads) {
  constexpr std::string_view kText =
      "5\n0 1 A 7 3\n1 2 A 7 4\n0 1 R 7 2 4 3\n1 9 R 8 0\n1 2 R 7 1 4\n";
  formats::expect_same_history("veristrong", kText,
                               "0: { a(7,3) r(7,[4,3]) }\n1: { a(7,4) r(7,[4]) } { r(8,[]) }\n");
  auto r = read_history_text(kText, "f");
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r->format, "veristrong");
  std::string text;
  auto losses = write_history_text(r->history, "veristrong", text);
  ASSERT_TRUE(losses.ok());
  EXPECT_EQ(text, "5\n0 0 A 7 3\n0 0 R 7 2 4 3\n1 1 A 7 4\n1 1 R 7 1 4\n1 2 R 8 0\n");
}

TEST(Veristrong, RefusesBadInputAtItsPlace) {
  auto refuse = [](std::string_view text, uint64_t line, uint64_t column, const std::string& part) {
    formats::expect_bad_input("veristrong", text, line, column, part);
  };
  refuse("x\n", 1, 1, "the number of operations");
  refuse("-1\n", 1, 3, "the number of operations");
  refuse("1\n0 1 X 7 3\n", 2, 5, "R for a read or A");
  refuse("1\n0 a\n", 2, 3, "an integer of 64 bits");
  refuse("1\n0 1 A 7\n", 2, 8, "an integer of 64 bits");
  refuse("1\n0 1 A 7 3 4\n", 2, 11, "the end of the line");
  refuse("1\n0 1 R 7 2 4\n", 2, 12, "an integer of 64 bits");
  refuse("1\n0 1 R 7 -2\n", 2, 11, "the number of elements");
  refuse("1\n0 1 A 7 3\n0 1 A 7 4\n", 3, 1, "no more operations");
  refuse("2\n0 1 A 7 3\n", 2, 0, "ends after 1 operations, expected 2");
}

TEST(Veristrong, CountsWhatItCannotHold) {
  auto r = read_history_text("0: { w(1,2) a(x,1) a(1,2) } { }! { r(1,null) }\n", "f", {"hist"});
  ASSERT_TRUE(r.ok());
  std::string text;
  auto losses = write_history_text(r->history, "veristrong", text);
  ASSERT_TRUE(losses.ok());
  EXPECT_EQ(text, "3\n0 0 A 1 1\n0 0 A 0 2\n0 2 R 0 0\n");
  std::string list;
  for (const Loss& l : *losses) list += std::to_string(l.count) + " " + l.what + "\n";
  EXPECT_EQ(list,
            "1 aborted transactions\n"
            "2 keys, replaced by numbers\n"
            "1 operations that are neither appends nor reads of lists\n");
}

}  // namespace
}  // namespace assay::internal
