// What every driver promises, as tests. A test program includes this and instantiates
// DriverContract with the options of its drivers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collect/driver.h"

namespace assay::internal::collect {

using Session = std::unique_ptr<DriverSession>;

// The parameter returns the options, or nullopt if the database is not available. Their isolation
// must refuse lost updates.
using MakeOptions = std::function<std::optional<DriverOptions>()>;

class DriverContract : public testing::TestWithParam<MakeOptions> {
 protected:
  void SetUp() override {
    const auto options = GetParam()();
    if (!options) GTEST_SKIP() << "no such database here";
    DriverOptions with_tables = *options;
    with_tables.tables = {{"account", {"owner", "balance"}}};
    auto driver = open_driver(with_tables);
    ASSERT_TRUE(driver.ok()) << driver.error().to_string();
    driver_ = std::move(*driver);
    ASSERT_TRUE(driver_->prepare().ok());
    run_ = options->run;
  }
  Session connect() {
    auto session = driver_->connect();
    EXPECT_TRUE(session.ok()) << session.error().to_string();
    return std::move(*session);
  }
  static CallResult write(DriverSession& s, int64_t key, Value value) {
    Reply reply;
    return s.call({.kind = OpKind::write, .key = Value::of(key), .value = std::move(value)}, reply);
  }
  static Value read(DriverSession& s, int64_t key) {
    Reply reply;
    EXPECT_TRUE(s.call({.kind = OpKind::read, .key = Value::of(key)}, reply).ok());
    return reply.value;
  }
  // Reads a key in a transaction of its own.
  static Value read_alone(DriverSession& s, int64_t key) {
    EXPECT_TRUE(s.begin().ok());
    Value value = read(s, key);
    EXPECT_TRUE(s.commit().ok());
    return value;
  }

  // Executes one operation in a transaction of its own.
  static Reply alone(DriverSession& s, const Request& request) {
    Reply reply;
    EXPECT_TRUE(s.begin().ok());
    const CallResult result = s.call(request, reply);
    EXPECT_TRUE(result.ok()) << result.message;
    EXPECT_TRUE(s.commit().ok());
    return reply;
  }
  bool can(std::initializer_list<OpKind> kinds) const {
    return std::all_of(kinds.begin(), kinds.end(),
                       [this](OpKind kind) { return driver_->supports(kind); });
  }

  std::unique_ptr<Driver> driver_;
  uint64_t run_ = 0;
};

TEST_P(DriverContract, TellsWhichRunPreparedIt) {
  if (run_ == 0) GTEST_SKIP() << "no run";
  const auto run = driver_->prepared_by();
  ASSERT_TRUE(run.ok()) << run.error().to_string();
  EXPECT_EQ(run->run, run_);
  EXPECT_FALSE(run->finished);
  EXPECT_FALSE(run->began.empty());
  ASSERT_TRUE(driver_->mark_finished().ok());
  const auto finished = driver_->prepared_by();
  ASSERT_TRUE(finished.ok()) << finished.error().to_string();
  EXPECT_EQ(finished->run, run_);
  EXPECT_TRUE(finished->finished);
}

TEST_P(DriverContract, AbsentKeysReadNull) {
  Session s = connect();
  EXPECT_EQ(read_alone(*s, 1), Value());
}

TEST_P(DriverContract, CommittedWritesAreReadByAll) {
  Session a = connect(), b = connect();
  ASSERT_TRUE(a->begin().ok());
  ASSERT_TRUE(write(*a, 1, Value::of(10)).ok());
  EXPECT_EQ(read(*a, 1), Value::of(10)) << "own write";
  ASSERT_TRUE(write(*a, 1, Value::of(11)).ok());
  ASSERT_TRUE(a->commit().ok());
  EXPECT_EQ(read_alone(*a, 1), Value::of(11));
  EXPECT_EQ(read_alone(*b, 1), Value::of(11));
}

TEST_P(DriverContract, IntegersAndStringsComeBackAsTheyWere) {
  Session s = connect();
  const std::vector<Value> values = {Value::of(INT64_MIN), Value::of(std::string("17")),
                                     Value::of(std::string("naïve \"quote\" 'x' \\"))};
  for (const Value& value : values) {
    ASSERT_TRUE(s->begin().ok());
    ASSERT_TRUE(write(*s, 5, value).ok());
    ASSERT_TRUE(s->commit().ok());
    EXPECT_EQ(read_alone(*s, 5), value);
  }
}

TEST_P(DriverContract, AbortedWritesAreNotRead) {
  Session a = connect(), b = connect();
  ASSERT_TRUE(a->begin().ok());
  ASSERT_TRUE(write(*a, 1, Value::of(10)).ok());
  EXPECT_EQ(a->abort().outcome, CallOutcome::aborted);
  EXPECT_EQ(read_alone(*a, 1), Value());
  EXPECT_EQ(read_alone(*b, 1), Value());
}

TEST_P(DriverContract, AClosedSessionLeavesNothing) {
  {
    Session a = connect();
    ASSERT_TRUE(a->begin().ok());
    ASSERT_TRUE(write(*a, 1, Value::of(10)).ok());
  }
  Session b = connect();
  EXPECT_EQ(read_alone(*b, 1), Value());
}

TEST_P(DriverContract, AConflictIsAnAbortAndTheSessionGoesOn) {
  Session a = connect(), b = connect();
  ASSERT_TRUE(a->begin().ok());
  read(*a, 1);
  // Under an exclusive isolation b cannot even begin: that is an abort, too.
  CallResult other = b->begin();
  if (other.ok()) other = write(*b, 1, Value::of(20));
  if (other.ok()) other = b->commit();
  EXPECT_TRUE(other.ok() || other.outcome == CallOutcome::aborted) << other.message;
  CallResult mine = write(*a, 1, Value::of(10));
  if (mine.ok()) mine = a->commit();
  EXPECT_TRUE(mine.ok() != other.ok()) << "one of them, not both: " << mine.message;
  Session& loser = mine.ok() ? b : a;
  ASSERT_TRUE(loser->begin().ok());
  ASSERT_TRUE(write(*loser, 1, Value::of(30)).ok());
  ASSERT_TRUE(loser->commit().ok());
  EXPECT_EQ(read_alone(*a, 1), Value::of(30));
}

TEST_P(DriverContract, ConditionalWritesTellWhetherTheyTookEffect) {
  if (!can({OpKind::insert, OpKind::cas})) GTEST_SKIP() << "not offered";
  Session s = connect();
  const Value key = Value::of(1), ten = Value::of(10), twelve = Value::of(12);
  const Request insert{.kind = OpKind::insert, .key = key, .value = ten};
  EXPECT_TRUE(alone(*s, insert).effect);
  EXPECT_FALSE(alone(*s, insert).effect);
  Request cas{.kind = OpKind::cas, .key = key, .value = twelve, .expected = Value::of(9)};
  EXPECT_FALSE(alone(*s, cas).effect);
  EXPECT_EQ(read_alone(*s, 1), ten);
  cas.expected = ten;
  EXPECT_TRUE(alone(*s, cas).effect);
  EXPECT_EQ(read_alone(*s, 1), twelve);
  cas.expected = Value();
  EXPECT_FALSE(alone(*s, cas).effect);
  cas.key = Value::of(2);
  EXPECT_TRUE(alone(*s, cas).effect) << "absent, as expected";
  EXPECT_EQ(read_alone(*s, 2), twelve);
}

TEST_P(DriverContract, RemovedKeysReadNull) {
  if (!can({OpKind::remove})) GTEST_SKIP() << "not offered";
  Session s = connect();
  const Value key = Value::of(1);
  alone(*s, {.kind = OpKind::write, .key = key, .value = Value::of(10)});
  EXPECT_TRUE(alone(*s, {.kind = OpKind::remove, .key = key, .value = Value::of(11)}).effect);
  EXPECT_EQ(read_alone(*s, 1), Value());
  alone(*s, {.kind = OpKind::remove, .key = key, .value = Value::of(12)});
  EXPECT_EQ(read_alone(*s, 1), Value());
}

TEST_P(DriverContract, RangesAreInTheOrderOfTheKeys) {
  if (!can({OpKind::range})) GTEST_SKIP() << "not offered";
  Session s = connect();
  const Value a = Value::of(std::string("a"));
  for (const Value& key : {Value::of(10), Value::of(-3), a, Value::of(9)})
    alone(*s, {.kind = OpKind::write, .key = key, .value = Value::of(1)});
  const auto keys = [&](Value low, Value high) {
    std::vector<Value> found;
    for (const auto& [key, value] :
         alone(*s, {.kind = OpKind::range, .key = std::move(low), .high = std::move(high)}).rows)
      found.push_back(key);
    return found;
  };
  using Values = std::vector<Value>;
  EXPECT_EQ(keys({}, {}), (Values{Value::of(-3), Value::of(9), Value::of(10), a}));
  EXPECT_EQ(keys(Value::of(-2), Value::of(10)), (Values{Value::of(9), Value::of(10)}));
  EXPECT_EQ(keys(Value::of(10), {}), (Values{Value::of(10), a}));
  EXPECT_EQ(keys(Value::of(11), Value::of(12)), Values{});
}

TEST_P(DriverContract, ListsGrowAtTheirEnd) {
  if (!can({OpKind::append, OpKind::read_list})) GTEST_SKIP() << "not offered";
  Session s = connect();
  const Request read{.kind = OpKind::read_list, .key = Value::of(1)};
  EXPECT_TRUE(alone(*s, read).list.empty());
  const std::vector<Value> elements = {Value::of(5), Value::of(std::string("a,b%c")),
                                       Value::of(-7)};
  for (const Value& element : elements)
    alone(*s, {.kind = OpKind::append, .key = Value::of(1), .value = element});
  EXPECT_EQ(alone(*s, read).list, elements);
}

TEST_P(DriverContract, CellsOfOneRowAreKeysOfTheirOwn) {
  Session s = connect();
  const auto cell = [](const char* name) { return Value::of(std::string(name)); };
  const auto read = [&](const char* name) {
    return alone(*s, {.kind = OpKind::read, .key = cell(name)}).value;
  };
  EXPECT_EQ(read("account:7:balance"), Value());
  alone(*s, {.kind = OpKind::write, .key = cell("account:7:balance"), .value = Value::of(10)});
  EXPECT_EQ(read("account:7:balance"), Value::of(10));
  EXPECT_EQ(read("account:7:owner"), Value());
  alone(*s, {.kind = OpKind::write, .key = cell("account:7:owner"), .value = Value::of(11)});
  alone(*s, {.kind = OpKind::write, .key = cell("account:8:balance"), .value = Value::of(12)});
  EXPECT_EQ(read("account:7:balance"), Value::of(10));
  EXPECT_EQ(read("account:7:owner"), Value::of(11));
}

TEST_P(DriverContract, DescribesItselfAsJson) {
  EXPECT_TRUE(driver_->describe().starts_with("{\"name\":\""));
  EXPECT_TRUE(driver_->describe().ends_with("}"));
}

}  // namespace assay::internal::collect
