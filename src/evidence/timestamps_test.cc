#include <gtest/gtest.h>

#include "evidence/log.h"

namespace assay::internal::evidence {
namespace {

using collect::Request;
using collect::Step;
using collect::TxnRecord;

TxnRecord txn(uint64_t number, int64_t at, std::vector<Request> requests,
              TxnStatus status = TxnStatus::committed) {
  TxnRecord record;
  record.session = 1;
  record.number = number;
  record.status = status;
  record.commit_ts = at;
  for (Request& request : requests) record.steps.push_back({std::move(request), {}});
  return record;
}

Request write(int64_t key, int64_t value) {
  return {.kind = OpKind::write, .key = Value::of(key), .value = Value::of(value)};
}
Request read(int64_t key) { return {.kind = OpKind::read, .key = Value::of(key)}; }
Request remove(int64_t key) {
  return {.kind = OpKind::remove, .key = Value::of(key), .value = Value::of(99)};
}
Request append(int64_t key, int64_t value) {
  return {.kind = OpKind::append, .key = Value::of(key), .value = Value::of(value)};
}

// "1-2: 7=3 8=-", a line a transaction, and what the log may lack.
struct Told {
  std::vector<std::string> txns;
  LogEnd end;

  explicit Told(const std::vector<TxnRecord>& records) {
    const auto log = open_timestamp_log({}).value();
    for (const TxnRecord& record : records) log->ended(record);
    end = log->read([this](const LoggedTxn& txn) {
               txns.push_back(txn.name + ":");
               for (const Change& change : txn.changes)
                 txns.back() += " " + change.key.view().to_string() + "=" +
                                (change.value.is_null() ? "-" : change.value.view().to_string());
             })
              .value();
  }
};

TEST(TimestampLog, OrdersByCommit) {
  const Told told({txn(0, 407, {read(7), write(7, 1)}), txn(1, 398, {write(7, 2), write(8, 3)})});
  EXPECT_EQ(told.txns, (std::vector<std::string>{"1-1: 7=2 8=3", "1-0: 7=1"}));
  EXPECT_EQ(told.end.position, "timestamp 407");
  EXPECT_EQ(told.end.missing, "");
}

TEST(TimestampLog, TellsWhatIsLeftOfEachKey) {
  const Told told({txn(0, 1, {write(7, 1), write(8, 2), write(7, 3), remove(8)}),
                   txn(1, 2, {append(9, 4), append(9, 5)})});
  EXPECT_EQ(told.txns, (std::vector<std::string>{"1-0: 7=3 8=-", "1-1: 9=4 9=5"}));
}

TEST(TimestampLog, ConditionalWritesWithoutEffectLeaveNothing) {
  TxnRecord failed = txn(0, 1, {write(7, 1)});
  failed.steps[0].request.kind = OpKind::insert;
  failed.steps[0].reply.effect = false;
  EXPECT_TRUE(Told({failed}).txns.empty());
}

TEST(TimestampLog, SaysWhatItMayLack) {
  const int64_t untold = Interval::kUnknown;
  EXPECT_EQ(Told({txn(0, untold, {write(7, 1)})}).end.missing,
            "transactions without a timestamp: 1");
  EXPECT_EQ(Told({txn(0, untold, {write(7, 1)}, TxnStatus::unknown)}).end.missing,
            "transactions of unknown outcome that wrote: 1");
  EXPECT_EQ(Told({txn(0, untold, {read(7)}), txn(1, untold, {write(7, 1)}, TxnStatus::aborted)})
                .end.missing,
            "");
}

// Between two that share no key there is no order to know.
TEST(TimestampLog, OneTimestampIsNoTieOnDifferentKeys) {
  const Told told({txn(0, 2, {write(7, 1)}), txn(1, 2, {write(8, 2)}), txn(2, 3, {write(8, 3)})});
  EXPECT_EQ(told.txns, (std::vector<std::string>{"1-0: 7=1", "1-1: 8=2", "1-2: 8=3"}));
  EXPECT_EQ(told.end.missing, "");
}

// What two with one timestamp wrote has no order, and what comes behind might be complete or not.
TEST(TimestampLog, StopsAtATie) {
  const Told told({txn(0, 1, {write(7, 1)}), txn(1, 2, {write(7, 2)}), txn(2, 2, {write(7, 3)}),
                   txn(3, 3, {write(8, 4)})});
  EXPECT_EQ(told.txns, (std::vector<std::string>{"1-0: 7=1"}));
  EXPECT_EQ(told.end.missing, "1-1 and 1-2 have the same commit timestamp, 2");
}

}  // namespace
}  // namespace assay::internal::evidence
