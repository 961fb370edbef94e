#include "collect/client.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "collect/sink.h"

namespace assay::internal::collect {
namespace {

// What the database answers to a write and to a commit.
struct Answers {
  CallResult call = {}, commit = {};
};

class AnsweringSession : public DriverSession {
 public:
  explicit AnsweringSession(const Answers& answers) : answers_(answers) {}
  CallResult begin() override { return {}; }
  CallResult call(const Request&, Reply&) override { return answers_.call; }
  CallResult commit() override { return answers_.commit; }
  CallResult abort() override { return CallResult::aborted("given up"); }

 private:
  const Answers& answers_;
};

class AnsweringDriver : public Driver {
 public:
  explicit AnsweringDriver(const Answers& answers) : answers_(answers) {}
  bool supports(OpKind) const override { return true; }
  Status prepare() override { return Ok{}; }
  Result<std::unique_ptr<DriverSession>> connect() override {
    return std::unique_ptr<DriverSession>(std::make_unique<AnsweringSession>(answers_));
  }
  std::string describe() const override { return "{}"; }

 private:
  const Answers& answers_;
};

// A write a transaction; notes which of them it was asked to do again.
class OneWrite : public WorkloadSession {
 public:
  explicit OneWrite(std::vector<bool>& retries) : retries_(retries) {}
  void start(bool retry) override {
    retries_.push_back(retry);
    done_ = false;
  }
  bool next(const Reply*, Request& request) override {
    if (std::exchange(done_, true)) return false;
    request = {.kind = OpKind::write,
               .key = Value::of(int64_t{1}),
               .value = Value::of(static_cast<int64_t>(retries_.size()))};
    return true;
  }

 private:
  std::vector<bool>& retries_;
  bool done_ = false;
};

class ClientTest : public testing::Test {
 protected:
  std::unique_ptr<Client> client() {
    auto made = std::make_unique<Client>(0, driver_, std::make_unique<OneWrite>(retries_), sink_,
                                         clock_, 1, std::chrono::milliseconds(100));
    EXPECT_TRUE(made->connect().ok());
    return made;
  }
  TxnStatus only_status() {
    const Result<History> history = sink_.take();
    EXPECT_TRUE(history.ok() && history->txn_count() == 1);
    return history.ok() && history->txn_count() > 0 ? history->status(0) : TxnStatus::committed;
  }

  Answers answers_;
  AnsweringDriver driver_{answers_};
  HistorySink sink_;
  RunClock clock_;
  std::vector<bool> retries_;
};

// After a fatal failure the outcome of a COMMIT in flight is unknown; a transaction that had not
// sent it is aborted.
TEST_F(ClientTest, AFatalFailureLeavesACommitOpenAndNothingElse) {
  answers_.commit = CallResult::fatal("gone");
  EXPECT_FALSE(client()->attempt().ok());
  EXPECT_EQ(only_status(), TxnStatus::unknown);
  answers_ = {.call = CallResult::fatal("gone")};
  EXPECT_FALSE(client()->attempt().ok());
  EXPECT_EQ(only_status(), TxnStatus::aborted);
}

TEST_F(ClientTest, WhatIsAbortedIsTriedAgainTenTimes) {
  answers_.commit = CallResult::aborted("conflict");
  const auto trying = client();
  for (int i = 0; i < 12; ++i) EXPECT_EQ(trying->attempt().value(), TxnStatus::aborted);
  answers_ = {};
  EXPECT_EQ(trying->attempt().value(), TxnStatus::committed);
  EXPECT_EQ(trying->attempt().value(), TxnStatus::committed);
  std::vector<bool> expected(14, true);
  expected[0] = expected[10] = false;  // the next one, since the last never gets through
  expected[13] = false;
  EXPECT_EQ(retries_, expected);
}

TEST_F(ClientTest, AnUnknownOutcomeIsNotTriedAgain) {
  answers_.commit = CallResult::unknown("lost");
  const auto trying = client();
  EXPECT_EQ(trying->attempt().value(), TxnStatus::unknown);
  EXPECT_EQ(trying->attempt().value(), TxnStatus::unknown);
  EXPECT_EQ(retries_, (std::vector<bool>{false, false}));
}

}  // namespace
}  // namespace assay::internal::collect
