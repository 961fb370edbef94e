// What every driver promises, as tests. A test program includes this and instantiates DriverContract
// with the options of its drivers.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collect/driver.h"

namespace assay::collect {

using Session = std::unique_ptr<DriverSession>;

// The parameter gives the options, or nothing where the database cannot be had. Their isolation must
// refuse lost updates.
using MakeOptions = std::function<std::optional<DriverOptions>()>;

class DriverContract : public testing::TestWithParam<MakeOptions> {
 protected:
  void SetUp() override {
    const auto options = GetParam()();
    if (!options) GTEST_SKIP() << "no such database here";
    auto driver = open_driver(*options);
    ASSERT_TRUE(driver.ok()) << driver.error().to_string();
    driver_ = std::move(*driver);
    ASSERT_TRUE(driver_->prepare().ok());
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
  // Reads in a transaction of its own.
  static Value read_alone(DriverSession& s, int64_t key) {
    EXPECT_TRUE(s.begin().ok());
    Value value = read(s, key);
    EXPECT_TRUE(s.commit().ok());
    return value;
  }

  std::unique_ptr<Driver> driver_;
};

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

TEST_P(DriverContract, DescribesItselfAsJson) {
  EXPECT_TRUE(driver_->describe().starts_with("{\"name\":\""));
  EXPECT_TRUE(driver_->describe().ends_with("}"));
}

}  // namespace assay::collect
