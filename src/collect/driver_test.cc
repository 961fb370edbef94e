// The drivers that need no server.
#include "collect/driver.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "collect/driver_contract.h"

namespace assay::collect {
namespace {

DriverOptions options(std::string url, std::string isolation = {}) {
  return {.url = std::move(url),
          .isolation = std::move(isolation),
          .timeout = std::chrono::milliseconds(50)};
}

MakeOptions always(const DriverOptions& options) {
  return [options] { return options; };
}

INSTANTIATE_TEST_SUITE_P(All, DriverContract,
                         testing::Values(always(options("sqlite:")),
                                         always(options("sqlite:", "deferred")),
                                         always(options("sqlite:", "immediate")),
                                         always(options("simulated:session-si")),
                                         always(options("simulated:strict-serializable"))),
                         [](const auto& param) { return std::to_string(param.index); });

TEST(Sqlite, ConditionalWritesAndRanges) {
  auto driver = open_driver(options("sqlite:"));
  ASSERT_TRUE(driver.ok());
  ASSERT_TRUE((*driver)->prepare().ok());
  auto session = (*driver)->connect();
  ASSERT_TRUE(session.ok());
  DriverSession& s = **session;
  const auto key = [](int64_t k) { return Value::of(k); };
  Reply reply;
  ASSERT_TRUE(s.begin().ok());
  ASSERT_TRUE(s.call({.kind = OpKind::insert, .key = key(1), .value = key(10)}, reply).ok());
  EXPECT_TRUE(reply.effect);
  ASSERT_TRUE(s.call({.kind = OpKind::insert, .key = key(1), .value = key(11)}, reply).ok());
  EXPECT_FALSE(reply.effect);
  Request cas{.kind = OpKind::cas, .key = key(1), .value = key(12), .expected = key(9)};
  ASSERT_TRUE(s.call(cas, reply).ok());
  EXPECT_FALSE(reply.effect);
  cas.expected = key(10);
  ASSERT_TRUE(s.call(cas, reply).ok());
  EXPECT_TRUE(reply.effect);
  ASSERT_TRUE(s.call({.kind = OpKind::insert, .key = key(3), .value = key(30)}, reply).ok());
  Request range{.kind = OpKind::range, .key = key(1)};
  ASSERT_TRUE(s.call(range, reply).ok());
  using Rows = std::vector<std::pair<Value, Value>>;
  EXPECT_EQ(reply.rows, (Rows{{key(1), key(12)}, {key(3), key(30)}}));
  range.high = key(2);
  ASSERT_TRUE(s.call(range, reply).ok());
  EXPECT_EQ(reply.rows, (Rows{{key(1), key(12)}}));
  ASSERT_TRUE(s.commit().ok());
}

TEST(Sqlite, ATemporaryDatabaseLeavesNothingBehind) {
  namespace fs = std::filesystem;
  const auto folders = [] {
    size_t count = 0;
    for (const auto& entry : fs::directory_iterator(fs::temp_directory_path()))
      count += entry.path().filename().string().starts_with("assay-sqlite-");
    return count;
  };
  auto driver = open_driver(options("sqlite:"));
  ASSERT_TRUE((*driver)->prepare().ok());
  const size_t with = folders();
  driver->reset();
  EXPECT_LT(folders(), with);
}

TEST(Drivers, UnknownNamesAreUsageErrors) {
  for (const DriverOptions& bad :
       {options("oracle:x"), options("sqlite"), options("sqlite:", "serializable"),
        options("sqlite::memory:"), options("simulated:nothing"),
        options("simulated:session-si?bug=write-skew"), options("simulated:session-si?rate=2"),
        options("simulated:session-si", "snapshot")}) {
    const auto driver = open_driver(bad);
    ASSERT_FALSE(driver.ok()) << bad.url;
    EXPECT_EQ(driver.error().kind, ErrorKind::usage);
  }
}

TEST(Drivers, ADatabaseThatCannotBeOpenedIsAnIoError) {
  auto driver = open_driver(options("sqlite:/nonexistent/folder/x.db"));
  ASSERT_TRUE(driver.ok());
  const Status prepared = (*driver)->prepare();
  ASSERT_FALSE(prepared.ok());
  EXPECT_EQ(prepared.error().kind, ErrorKind::io);
}

}  // namespace
}  // namespace assay::collect
