#include <gtest/gtest.h>

#include "assay/format.h"
#include "formats/expect_bad_input.h"
#include "formats/expect_same_history.h"
#include "formats/shared_data.h"

namespace assay::internal {
namespace {

TEST(JepsenLog, OperationsAmongOtherLines) {
  constexpr std::string_view kLog =
      "INFO  jepsen.core - Running test\n"
      "INFO  jepsen.util - 0\t:invoke\t:write\t3\n"
      "2026-01-01 INFO  jepsen.util - 1\t:invoke\t:cas\t[3 4]\r\n"
      "INFO  jepsen.util - 0\t:ok\t:write\t3\n"
      "INFO  jepsen.util - :nemesis\t:info\t:start\tnil\n"
      "INFO  jepsen.util - 1\t:info\t:cas\t:timed-out\n"
      "INFO  jepsen.util - 2\t:invoke\t:read\tnil\n"
      "INFO  jepsen.util - 2\t:ok\t:read\t4\n";
  formats::expect_same_history(
      "jepsen-log", kLog,
      "0: @[1~3,1~3] { w(register,3) }\n1: @[2~_,_] { cas(register,3,4) }?\n2: "
      "@[6~7,6~7] { r(register,4) }\n");
  auto r = read_history_text(kLog, "f");
  ASSERT_TRUE(r.ok()) << r.error().to_string();
  EXPECT_EQ(r->format, "jepsen-log");
  EXPECT_EQ(r->history.events().size(), 1u);
  ASSERT_EQ(r->notes.size(), 1u);
  EXPECT_EQ(r->notes[0].message, "1 lines are not operations and were skipped");
}

TEST(JepsenLog, PartsMayBeSeparatedByBlanks) {
  formats::expect_same_history("jepsen-log",
                               "INFO  jepsen.util - 0   :invoke  :cas \t[3 4]\n"
                               "INFO  jepsen.util - 0   :ok      :cas     [3 4]\n"
                               "INFO  jepsen.util - 1   :invoke  :read\n"
                               "INFO  jepsen.util - 1   :ok      :read    4   \n",
                               "0: @[1~2,1~2] { cas(register,3,4) }\n"
                               "1: @[3~4,3~4] { r(register,4) }\n");
}

// A history.txt, a jepsen.log, and the console's log of two releases.
TEST(JepsenLog, EveryShapeInWhichItIsPosted) {
  constexpr std::string_view kSame =
      "48: @[1~2,1~2] { a(391,3) r(391,[3]) }\n2: @[4~_,_] { a(391,\"a b\") }?\n";
  std::string txt =
      "48\t:invoke\t:txn\t[[:append 391 3] [:r 391 nil]]\n"
      "48\t:ok\t:txn\t[[:append 391 3] [:r 391 [3]]]\n"
      ":nemesis\t:info\t:start-partition\tnil\n"
      "2\t:invoke\t:txn\t[[:append 391 \"a b\"]]\n"
      "2\t:info\t:txn\t[[:append 391 \"a b\"]]\t[:timeout \"no } answer\n";
  formats::expect_same_history("jepsen-log", txt, kSame);
  auto found = read_history_text(txt, "f");
  ASSERT_TRUE(found.ok()) << found.error().to_string();
  EXPECT_EQ(found->format, "jepsen-log");
  EXPECT_EQ(found->history.events().size(), 1u);
  EXPECT_TRUE(found->notes.empty());
  const auto behind = [&](const std::string& front) {
    std::string log;
    for (size_t at = 0; at < txt.size(); at = txt.find('\n', at) + 1)
      log += front + txt.substr(at, txt.find('\n', at) + 1 - at);
    return log;
  };
  for (const char* front : {"2020-08-10 23:29:43,970{GMT}\tINFO\t[jepsen worker 7] jepsen.util: ",
                            "INFO [2021-04-19 10:45:31,123] jepsen worker 4 - jepsen.util ",
                            "INFO  jepsen.util - ", "  ", "jepsen.util:\t"})
    formats::expect_same_history("jepsen-log", behind(front), kSame);
}

TEST(JepsenLog, ALogWithoutOperationsIsNoHistory) {
  formats::expect_bad_input("jepsen-log", "INFO  jepsen.core - Running test\nhello\n", 0, 0,
                            "no line is an operation");
}

TEST(JepsenLog, RefusesBadInputAtItsPlace) {
  auto refuse = [](std::string_view text, uint64_t line, uint64_t column, const std::string& part) {
    formats::expect_bad_input("jepsen-log", text, line, column, part);
  };
  refuse("\njepsen.util - 0\t:done\t:read\tnil\n", 2, 17, "expected one of :invoke");
  refuse("jepsen.util - 0\t:ok\tread\tnil\n", 1, 21, "expected an operation");
  refuse("jepsen.util - 0\t:ok\t:read\t[1\n", 1, 29, "unexpected end");
  refuse("jepsen.util - 0\t:ok\t:jump\t1\n", 1, 27, "the workload 'jump'");
}

TEST(JepsenLog, ReadsRealFiles) {
  const auto data = formats::shared_data();
  if (data.empty()) GTEST_SKIP() << "no shared data";
  for (const char* name : {"etcd_000.log", "etcd_002.log", "etcd_005.log"}) {
    auto r = read_history((data / "porcupine" / name).string());
    ASSERT_TRUE(r.ok()) << r.error().to_string();
    EXPECT_EQ(r->format, "jepsen-log");
    EXPECT_GT(r->history.txn_count(), 60u);
    uint32_t unknown = 0;
    for (TxnId t = 0; t < r->history.txn_count(); ++t)
      unknown += r->history.status(t) == TxnStatus::unknown ? 1 : 0;
    EXPECT_GT(unknown, 0u) << name;
  }
}

}  // namespace
}  // namespace assay::internal
