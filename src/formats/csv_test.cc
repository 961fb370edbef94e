#include <gtest/gtest.h>

#include "assay/format.h"
#include "formats/expect_bad_input.h"
#include "formats/expect_same_history.h"

namespace assay::internal {
namespace {

TEST(Csv, ColumnsByName) {
  formats::expect_same_history("csv",
                               "time,host,Session,op,key,value,txn\n"
                               "10,h,web-1,begin,,,17\n"
                               "12,h,web-1,read,x,,17\n"
                               "13,h,5,w,\"1\",\"a,\"\"b\",18\n"
                               "14,h,web-1,WRITE,x,2,17\n"
                               "15,h,web-1,r,l,[1 b],17\n"
                               "16,h,web-1,commit,,,17\n"
                               "17,h,5,abort,,,18\n"
                               "18,h,5,append,l,1,19\n",
                               "web-1: @[10,16] { r(x,null) w(x,2) r(l,[1,b]) }\n"
                               "5: @[13,17] { w(\"1\",\"a,\\\"b\") }! @[18,_] { a(l,1) }?\n");
}

TEST(Csv, WithoutEndsEverythingIsCommitted) {
  formats::expect_same_history("csv", "session;op;key;value\n1;w;x;1\n1; r ; x; 1 \n",
                               "1: { w(x,1) } { r(x,1) }\n");
  formats::expect_same_history(
      "csv", "session\ttxn\top\tkey\tvalue\tstatus\n1\ta\tw\tx\t1\taborted\n1\tb\td\tx\tt\tinfo\n",
      "1: { w(x,1) }! { d(x,t) }?\n");
}

TEST(Csv, IsDetectedByItsHeader) {
  auto r = read_history_text("session,op,key,value\n1,w,x,1\n", "f");
  ASSERT_TRUE(r.ok()) << r.error().to_string();
  EXPECT_EQ(r->format, "csv");
}

TEST(Csv, RefusesBadInputAtItsPlace) {
  auto refuse = [](const std::string& text, uint64_t line, uint64_t column,
                   const std::string& part) {
    formats::expect_bad_input("csv", text, line, column, part);
  };
  refuse("a,b\n", 1, 1, "expected a header");
  const std::string h = "session,txn,op,key,value,time,status\n";
  refuse(h + "1,2,w,x,\"1\n", 2, 9, "no closing quote");
  refuse(h + "1,2,w,x,\"1\"2\n", 2, 12, "a separator");
  refuse(h + ",2,w,x,1\n", 2, 1, "expected a session");
  refuse(h + "1,2\n", 2, 4, "expected an operation");
  refuse(h + "1,2,jump,x,1\n", 2, 5, "expected read, write");
  refuse(h + "1,2,w,,1\n", 2, 7, "expected a key");
  refuse(h + "1,2,w,x\n", 2, 8, "a value to write");
  refuse(h + "1,2,w,x,1,noon\n", 2, 11, "a time in nanoseconds");
  refuse(h + "1,2,w,x,1,5,maybe\n", 2, 13, "committed, aborted or unknown");
  refuse(h + "1,2,w,x,\xFF\n", 2, 9, "invalid UTF-8");
}

}  // namespace
}  // namespace assay::internal
