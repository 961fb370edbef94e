// PostgreSQL: the driver keeps its promises, and each isolation level turns out to be what the manual says.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "assay/check.h"
#include "assay/format.h"
#include "collect/driver_contract.h"
#include "collect/run.h"
#include "server.h"

namespace assay {
namespace {

std::unique_ptr<Server> server;

class ServerEnvironment : public testing::Environment {
 public:
  void SetUp() override { server = std::make_unique<Server>("postgres"); }
  void TearDown() override { server.reset(); }
};
[[maybe_unused]] const auto* const kEnvironment =
    testing::AddGlobalTestEnvironment(new ServerEnvironment);

std::string url() { return server->urls().empty() ? std::string() : server->urls().front(); }

std::optional<collect::DriverOptions> with_isolation(const char* isolation) {
  if (url().empty()) return std::nullopt;
  return collect::DriverOptions{.url = url(), .isolation = isolation};
}

}  // namespace

namespace collect {

INSTANTIATE_TEST_SUITE_P(Postgresql, DriverContract,
                         testing::Values([] { return with_isolation("repeatable read"); },
                                         [] { return with_isolation("Serializable"); }));

}  // namespace collect

namespace {

class PostgresqlLevels : public testing::Test {
 protected:
  void SetUp() override {
    if (url().empty()) GTEST_SKIP() << "PostgreSQL is not installed";
    std::string name =
        (std::filesystem::temp_directory_path() / "assay-postgresql-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  // Drives the database at the isolation and decides the levels.
  CheckResult measure(const std::string& isolation, std::vector<LevelId> levels) {
    collect::RunOptions options;
    options.databases = {url()};
    options.isolation = isolation;
    options.workload = "mini";
    options.workload_options.keys = 10;
    options.sessions = 8;
    options.txns = 300;
    options.history = folder_ + "/history.jsonl";
    const auto stats = collect::run(options);
    EXPECT_TRUE(stats.ok()) << stats.error().to_string();
    EXPECT_EQ(stats->committed, 2400u);
    auto read = read_history(options.history);
    EXPECT_TRUE(read.ok()) << read.error().to_string();
    CheckOptions check_options;
    check_options.levels = std::move(levels);
    return check(read->history, check_options);
  }

  std::string folder_;
};

TEST_F(PostgresqlLevels, ReadCommittedLosesUpdates) {
  const CheckResult result =
      measure("READ COMMITTED", {LevelId::read_committed, LevelId::session_si});
  EXPECT_EQ(result.find(LevelId::read_committed)->outcome, Outcome::satisfied);
  EXPECT_EQ(result.find(LevelId::session_si)->outcome, Outcome::violated);
}

TEST_F(PostgresqlLevels, RepeatableReadIsSnapshotIsolationAndAllowsWriteSkew) {
  const CheckResult result =
      measure("REPEATABLE READ", {LevelId::strong_si, LevelId::serializable});
  EXPECT_EQ(result.find(LevelId::strong_si)->outcome, Outcome::satisfied);
  EXPECT_EQ(result.find(LevelId::serializable)->outcome, Outcome::violated);
}

TEST_F(PostgresqlLevels, SerializableIs) {
  const CheckResult result = measure("SERIALIZABLE", {LevelId::session_serializable});
  EXPECT_EQ(result.find(LevelId::session_serializable)->outcome, Outcome::satisfied);
}

}  // namespace
}  // namespace assay
