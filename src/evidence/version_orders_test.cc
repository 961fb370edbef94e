// Driving an embedded database and looking inside it: everything but the servers.
#include <gtest/gtest.h>

#include <filesystem>

#include "assay/format.h"
#include "collect/run.h"
#include "evidence/log.h"

namespace assay::internal::evidence {
namespace {

namespace fs = std::filesystem;

class VersionOrder : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = (fs::temp_directory_path() / "assay-evidence-XXXXXX").string();
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override { fs::remove_all(folder_); }

  History run(const std::string& workload, collect::VersionLogReport& report) {
    collect::RunOptions options;
    options.workload = workload;
    options.sessions = 4;
    options.txns = 40;
    options.workload_options.keys = 20;
    options.history = folder_ + "/history.jsonl";
    options.recorder.overwrite = true;
    options.open_log = open_version_log;
    const auto stats = collect::run(options);
    EXPECT_TRUE(stats.ok() && stats->log);
    report = *stats->log;
    auto read = read_history(options.history);
    EXPECT_TRUE(read.ok()) << read.error().to_string();
    return std::move(read->history);
  }

  std::string folder_;
};

// Every version that a committed transaction left behind stands in the order of its key, under its name.
TEST_F(VersionOrder, HasEveryVersion) {
  for (const char* workload : {"general", "list-append", "twitter"}) {
    SCOPED_TRACE(workload);
    collect::VersionLogReport report;
    const History h = run(workload, report);
    EXPECT_EQ(report.missing, "");
    EXPECT_EQ(report.unnamed, 0u);
    EXPECT_NE(h.orders_complete_to(), Interval::kUnknown);
    uint64_t entries = 0;
    for (const KnownOrder& order : h.known_orders()) {
      entries += order.versions.size();
      for (size_t i = 0; i < order.versions.size(); ++i) {
        ASSERT_NE(order.txn(i), kNone);
        EXPECT_EQ(h.status(order.txn(i)), TxnStatus::committed);
      }
    }
    EXPECT_EQ(entries, report.versions);
    uint64_t installs = 0;
    for (TxnId t = 0; t < h.txn_count(); ++t)
      for (OpId i = h.first_op(t); i < h.end_op(t); ++i)
        installs += h.status(t) == TxnStatus::committed && installs_version(h.op(i));
    EXPECT_EQ(entries, installs);
  }
}

TEST_F(VersionOrder, OnlyFromDatabasesThatHaveALog) {
  collect::VersionLogOptions options;
  options.urls = {"simulated:serializable"};
  const auto log = open_version_log(options);
  ASSERT_FALSE(log.ok());
  EXPECT_NE(log.error().message.find("postgresql"), std::string::npos) << log.error().message;
}

}  // namespace
}  // namespace assay::internal::evidence
