// Driving an embedded database and looking inside it: everything but the servers.
#include <gtest/gtest.h>

#include <filesystem>

#include "assay/format.h"
#include "collect/run.h"
#include "collect/sink.h"
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

// Every version that a committed transaction left behind stands in the order of its key, under its
// name.
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

// A log of what is given, complete, after all sessions have ended.
class GivenLog : public Log {
 public:
  explicit GivenLog(std::vector<LoggedTxn> txns) : txns_(std::move(txns)) {}
  std::string source() const override { return "what is given"; }
  Status start() override { return Ok{}; }
  Result<LogEnd> read(const std::function<void(LoggedTxn)>& take) override {
    for (LoggedTxn& txn : txns_) take(std::move(txn));
    return LogEnd{"its end", "", true};
  }

 private:
  std::vector<LoggedTxn> txns_;
};

// How many of the transactions 1-0 and 1-1, whose outcomes nobody learned, a log with these says
// did not commit.
uint64_t not_committed(const std::vector<std::string>& names) {
  std::vector<LoggedTxn> txns;
  for (const std::string& name : names)
    txns.push_back({name, "", "", {{Value::of(int64_t{7}), Value::of(int64_t{1})}}});
  const auto orders = version_orders_of(std::make_unique<GivenLog>(std::move(txns)));
  for (uint64_t number = 0; number < 2; ++number) {
    collect::TxnRecord record;
    record.session = 1;
    record.number = number;
    record.status = TxnStatus::unknown;
    record.steps.push_back({{.kind = OpKind::write,
                             .key = Value::of(int64_t{7}),
                             .value = Value::of(static_cast<int64_t>(number))},
                            {}});
    orders->ended(record);
  }
  collect::HistorySink sink;
  const auto report = orders->write(100, sink);
  EXPECT_TRUE(report.ok());
  return report.ok() ? report->not_committed : 0;
}

// One that the log has without its name may be any.
TEST(VersionOrders, AbsenceIsToldByName) {
  EXPECT_EQ(not_committed({"1-0"}), 1u);
  EXPECT_EQ(not_committed({"1-0", "1-1"}), 0u);
  EXPECT_EQ(not_committed({"2-0"}), 2u);
  EXPECT_EQ(not_committed({"1-0", ""}), 0u);
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
