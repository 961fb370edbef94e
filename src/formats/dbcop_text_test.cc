#include <gtest/gtest.h>

#include "assay/format.h"
#include "formats/expect_bad_input.h"
#include "formats/expect_same_history.h"

namespace assay::internal {
namespace {

TEST(DbcopText, SessionsTransactionsAndComments) {
  constexpr std::string_view kText =
      "// two sessions\n[x:=1 y==2 z==?] []! // and\n\n  [x:=3]!\n----\n[ _a1 == 5 ]\n";
  formats::expect_bad_input("dbcop-text", kText, 6, 6, "expected ':=' or '=='");
  formats::expect_same_history("dbcop-text",
                               "// two\n[x:=1 y==2 z==?] []! // and\n\n [x:=3]!\n----\n[ _a1==5 ]",
                               "0: { w(x,1) r(y,2) r(z,null) } {}! { w(x,3) }!\n1: { r(_a1,5) }\n");
  auto r = read_history_text("// two\n[]\n[x:=1]\n", "f");
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r->format, "dbcop-text");
}

TEST(DbcopText, RefusesBadInputAtItsPlace) {
  auto refuse = [](std::string_view text, uint64_t line, uint64_t column, const std::string& part) {
    formats::expect_bad_input("dbcop-text", text, line, column, part);
  };
  refuse("[x:=1]\nx:=1\n", 2, 1, "a transaction like");
  refuse("[1:=1]\n", 1, 2, "an event like");
  refuse("[x:=?]\n", 1, 5, "a version");
  refuse("[x==-1]\n", 1, 5, "a version, an integer below 2^63, or ?");
  refuse("[x:=99999999999999999999]\n", 1, 5, "a version");
  refuse("[x:=1\n", 1, 6, "or ']'");
  refuse("[x:=1] !\n", 1, 8, "a transaction like");
}

TEST(DbcopText, RoundTrip) { formats::expect_stable_round_trip("dbcop-text", {.times = false}); }

}  // namespace
}  // namespace assay::internal
