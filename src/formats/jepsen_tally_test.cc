#include "formats/jepsen_tally.h"

#include <gtest/gtest.h>

#include "formats/shared_data.h"

namespace assay::internal::formats {
namespace {

Tally read_ok(std::string_view text) {
  auto tally = read_tally_text(text, "f");
  EXPECT_TRUE(tally.ok()) << (tally.ok() ? "" : tally.error().to_string());
  return tally.ok() ? std::move(*tally) : Tally{};
}

TEST(JepsenTally, Bank) {
  const Tally t = read_ok(R"({:type :invoke, :f :read, :process 0, :time 10}
{:type :invoke, :f :transfer, :value {:from 6, :to 1, :amount 5}, :process 1, :time 11}
{:type :ok, :f :read, :process 0, :time 12, :value {6 100, 1 0}}
{:type :info, :f :pause, :process :nemesis, :value {"a" ""}}
{:type :info, :f :transfer, :value :timeout, :process 1, :time 13}
{:type :invoke, :f :transfer, :value {:from 1, :to 6, :amount 7}, :process 2, :time 14}
{:type :fail, :f :transfer, :value {:from 1, :to 6, :amount 7}, :process 2, :time 15}
{:type :invoke, :f :read, :process 2, :time 16})");
  EXPECT_EQ(t.workload, Tally::Workload::bank);
  ASSERT_EQ(t.txns.size(), 4u);
  EXPECT_EQ(t.txns[0].reads.size(), 2u);
  EXPECT_EQ(t.txns[0].begin, Interval::point(10));
  EXPECT_EQ(t.txns[0].end, Interval::point(12));
  EXPECT_EQ(t.txns[1].status, TxnStatus::unknown);
  ASSERT_EQ(t.txns[1].adds.size(), 2u);
  EXPECT_EQ(t.accounts[t.txns[1].adds[0].first], "6");
  EXPECT_EQ(t.txns[1].adds[0].second, -5);
  EXPECT_FALSE(t.txns[1].end.known());
  EXPECT_EQ(t.txns[2].status, TxnStatus::aborted);
  EXPECT_EQ(t.txns[3].status, TxnStatus::unknown);
  EXPECT_EQ(t.txns[3].line, 8u);
}

TEST(JepsenTally, CounterInJson) {
  const Tally t = read_ok(R"([{"type":"invoke","f":"add","process":0,"value":3},
{"type":"ok","f":"add","process":0,"value":3},
{"type":"ok","f":"read","process":1,"value":3}])");
  EXPECT_EQ(t.workload, Tally::Workload::counter);
  ASSERT_EQ(t.txns.size(), 2u);
  EXPECT_EQ(t.txns[0].end, Interval::point(2));
  EXPECT_EQ(t.txns[1].reads[0].second, 3);
  EXPECT_FALSE(t.txns[1].end.known());
}

// Of an addition whose invocation is missing, its completion says what may have been added.
TEST(JepsenTally, ACompletionAlone) {
  const Tally t = read_ok(R"({:type :info :process 0 :f :add :value 5}
{:type :fail :process 0 :f :add :value :refused}
{:type :ok :process 1 :f :read :value 5})");
  ASSERT_EQ(t.txns.size(), 3u);
  EXPECT_EQ(t.txns[0].status, TxnStatus::unknown);
  ASSERT_EQ(t.txns[0].adds.size(), 1u);
  EXPECT_EQ(t.txns[0].adds[0].second, 5);
  EXPECT_TRUE(t.txns[1].adds.empty());
}

TEST(JepsenTally, ALog) {
  const Tally t = read_ok(
      "2019-06-10 10:31:29,707{GMT}\tINFO\t[jepsen worker 1] jepsen.util: 1\t:invoke\t:add\t1\n"
      "hello\n"
      "2019-06-10 10:31:29,764{GMT}\tINFO\t[jepsen worker 1] jepsen.util: 1\t:ok\t:add\t1\n"
      "4\t:invoke\t:read\tnil\n4\t:ok\t:read\t3\n");
  EXPECT_EQ(t.workload, Tally::Workload::counter);
  ASSERT_EQ(t.txns.size(), 2u);
  EXPECT_EQ(t.txns[0].end, Interval::point(2));
  EXPECT_EQ(t.txns[1].reads[0].second, 3);
  auto refused = read_tally_text("0\t:ok\t:add\t1\n0\t:ok\t:add\t[1]\n", "f");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().to_string(), "f:2:12: expected an integer to add");
}

TEST(JepsenTally, RefusesWhatIsNeither) {
  const auto refuse = [](std::string_view text, uint64_t column, const std::string& part) {
    auto tally = read_tally_text(text, "f");
    ASSERT_FALSE(tally.ok()) << text;
    EXPECT_EQ(tally.error().column, column) << text;
    EXPECT_NE(tally.error().message.find(part), std::string::npos) << tally.error().message;
  };
  refuse("{:type :ok :f :txn :value [[:r 1 2]]}", 27, "a bank");
  refuse("{:type :ok :f :add :value [1]}", 27, "an integer to add");
  refuse("{:type :ok :f :transfer :value {:from 1}}", 32, "a transfer");
  refuse("{:type :ok :f :read :value {1 nil}}", 31, "the balance of the account");
  refuse("{:type :ok :f :read :value 1} {:type :ok :f :read :value {1 1}}", 58, "one workload");
  refuse("{:type :info :f :add}", 1, "the added value");
  refuse("{:type :info :f :add :value :timeout}", 29, "an integer to add");
  refuse("{:type :invoke :f :read}", 0, "no operation of a bank");
}

TEST(JepsenTally, TheRealFiles) {
  const auto data = shared_data();
  if (data.empty()) GTEST_SKIP() << "no shared data";
  auto bank = read_tally((data / "elle/bank.edn").string(), nullptr);
  ASSERT_TRUE(bank.ok()) << bank.error().to_string();
  EXPECT_EQ(bank->accounts.size(), 10u);
  auto adds = read_tally((data / "elle/counter.edn").string(), nullptr);
  ASSERT_TRUE(adds.ok()) << adds.error().to_string();
  EXPECT_EQ(adds->txns.size(), 287u);
}

}  // namespace
}  // namespace assay::internal::formats
