// What databases themselves say of the order of versions: recovered whole, so that nothing that
// needs it stays open, and never against what the clients saw; also when the server is killed in
// the middle.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "assay/format.h"
#include "collect/driver.h"
#include "evidence/log.h"
#include "evidence/recover.h"
#include "measure.h"
#include "places.h"

namespace assay::internal {
namespace {

using collect::FaultKind;
using enum LevelId;

const std::vector<LevelId> kNeedOrder = {pl_1, pl_2, pl_cs, pl_2_plus, pl_2_99, pl_3};

collect::RunOptions looking_inside(collect::RunOptions options) {
  options.open_log = evidence::open_version_log;
  return options;
}

bool contradicted(const Measured& m) {
  return std::any_of(m.result.verdicts.begin(), m.result.verdicts.end(),
                     [](const Verdict& v) { return v.cause == UnknownCause::evidence; });
}

// Of each transaction that wrote something the log says who it was, and every level is decided.
void expect_complete(const Measured& m) {
  ASSERT_TRUE(m.stats.log);
  EXPECT_EQ(m.stats.log->missing, "");
  EXPECT_EQ(m.stats.log->unnamed, 0u);
  EXPECT_GT(m.stats.log->versions, 100u);
  EXPECT_NE(m.history.orders_complete_to(), Interval::kUnknown);
  for (const LevelId level : kNeedOrder)
    EXPECT_NE(m.outcome(level), Outcome::unknown) << level_info(level).name;
  EXPECT_FALSE(contradicted(m));
}

// Registers, repeated values and deletes, lists, cells of tables.
void expect_decided(const std::vector<std::string>& urls, const std::string& isolation) {
  for (const char* workload : {"general", "list-append", "twitter"}) {
    SCOPED_TRACE(workload);
    collect::RunOptions options = looking_inside(contended(urls, isolation, workload));
    options.txns = 60;
    options.workload_options.keys = 30;
    expect_complete(measure(options, kNeedOrder));
  }
  collect::RunOptions repeated = looking_inside(contended(urls, isolation, "general"));
  repeated.txns = 60;
  repeated.workload_options.values = 3;
  const Measured m = measure(repeated, {pl_1});
  ASSERT_TRUE(m.stats.log);
  EXPECT_GT(m.stats.log->versions, 100u);
  EXPECT_FALSE(contradicted(m));
}

TEST(Sqlite, TellsItsVersionOrder) { expect_decided({}, ""); }

TEST(Postgresql, TellsItsVersionOrder) {
  ASSAY_SERVER(urls, "postgres");
  for (const char* isolation : {"read committed", "repeatable read", "serializable"})
    expect_decided(urls, isolation);
}

TEST(Mariadb, TellsItsVersionOrder) {
  ASSAY_SERVER(urls, "mariadb");
  for (const char* isolation : {"read committed", "repeatable read", "serializable"})
    expect_decided(urls, isolation);
}

TEST(Galera, NodesTellOneVersionOrder) {
  ASSAY_SERVER(urls, "galera");
  expect_decided(urls, "repeatable read");
}

TEST(Redis, TellsItsVersionOrder) {
  ASSAY_SERVER(urls, "redis");
  for (const char* isolation : {"watch", "multi"}) expect_decided(urls, isolation);
}

TEST(Etcd, TellsItsVersionOrder) {
  ASSAY_SERVER(urls, "etcd");
  expect_decided(urls, "serializable");
}

// By commit timestamps, which each session learns.
TEST(Tidb, TellsItsVersionOrder) {
  ASSAY_SERVER(urls, "tidb");
  for (const char* isolation : {"read committed", "repeatable read"})
    expect_decided(urls, isolation);
}

// Early versions tell when a transaction began, and not when it committed.
TEST(OldTidb, ItsVersionOrderIsNotKnown) {
  ASSAY_SERVER(urls, "tidb@3.0");
  collect::RunOptions options = looking_inside(contended(urls, "repeatable read", "general"));
  options.txns = 20;
  const Measured m = measure(options, {pl_1});
  ASSERT_TRUE(m.stats.log);
  EXPECT_EQ(m.stats.log->versions, 0u);
  EXPECT_NE(m.stats.log->missing.find("did not learn their timestamp"), std::string::npos);
  EXPECT_NE(m.history.start_ts(0), Interval::kUnknown);
}

// By the times of cells: of plain writes the client's, so that it is complete.
TEST(Cassandra, TellsItsVersionOrder) {
  ASSAY_SERVER(server, "cassandra");
  const std::vector<std::string> urls = {server.front() + "?writetime"};
  collect::RunOptions options = looking_inside(contended(urls, "quorum", "general"));
  options.txns = 60;
  options.workload_options.keys = 30;
  expect_complete(measure(options, kNeedOrder));
  // A lightweight transaction whose cell was overwritten before it asked learns nothing.
  options = looking_inside(contended(urls, "serial", "lwt"));
  options.txns = 60;
  const Measured m = measure(options, {pl_1, pl_3});
  ASSERT_TRUE(m.stats.log);
  EXPECT_GT(m.stats.log->versions, 10u);
  EXPECT_FALSE(contradicted(m));
  for (const LevelId level : {pl_1, pl_3})
    EXPECT_NE(m.outcome(level), Outcome::violated) << level_info(level).name;
  // Where what was only read is written again as it was, times are of others.
  options = looking_inside(contended(urls, "partition", "general"));
  options.txns = 20;
  EXPECT_EQ(measure(options, {pl_1}).stats.log->versions, 0u);
}

// The history as a run leaves it that is killed: without what the log says at the end.
void cut_off_the_orders(const std::string& path) {
  std::ifstream in(path);
  std::string kept;
  for (std::string line; std::getline(in, line);)
    if (!line.starts_with("{\"key\"") && line.find("\"logged\"") == std::string::npos &&
        line.find("\"complete\"") == std::string::npos)
      kept += line + "\n";
  in.close();
  std::ofstream(path) << kept;
}

// What a killed run could not read is read afterwards, and is the same.
void expect_recovered(const std::vector<std::string>& urls, const std::string& isolation) {
  collect::RunOptions options = looking_inside(contended(urls, isolation, "general"));
  options.txns = 60;
  const Measured m = measure(options, kNeedOrder);
  ASSERT_TRUE(m.stats.log);
  cut_off_the_orders(*m.recording);
  const auto report = evidence::recover_version_orders(*m.recording, urls);
  ASSERT_TRUE(report.ok()) << report.error().to_string();
  EXPECT_EQ(report->versions, m.stats.log->versions);
  EXPECT_EQ(report->missing, "");
  const auto again = read_history(*m.recording);
  ASSERT_TRUE(again.ok()) << again.error().to_string();
  ASSERT_EQ(again->history.known_orders().size(), m.history.known_orders().size());
  for (size_t i = 0; i < m.history.known_orders().size(); ++i)
    EXPECT_EQ(again->history.known_orders()[i].versions, m.history.known_orders()[i].versions);
  EXPECT_NE(again->history.orders_complete_to(), Interval::kUnknown);
}

TEST(Mariadb, ItsLogIsReadAfterAKilledRun) {
  ASSAY_SERVER(urls, "mariadb");
  expect_recovered(urls, "repeatable read");
}

TEST(Galera, LogsOfItsNodesAreReadAfterAKilledRun) {
  ASSAY_SERVER(urls, "galera");
  expect_recovered(urls, "repeatable read");
}

TEST(Redis, ItsLogIsReadAfterAKilledRun) {
  ASSAY_SERVER(urls, "redis");
  expect_recovered(urls, "watch");
}

TEST(Etcd, ItsLogIsReadAfterAKilledRun) {
  ASSAY_SERVER(urls, "etcd");
  expect_recovered(urls, "serializable");
}

// Where commands are executed one after the other the log is an order that explains what everybody
// saw.
void expect_explained_by_log(const std::vector<std::string>& urls, const std::string& isolation,
                             ExpectedOrder::By by = ExpectedOrder::By::log) {
  collect::RunOptions options = looking_inside(contended(urls, isolation, "general"));
  options.txns = 60;
  options.workload_options.keys = 30;
  const Measured m = measure(options, {serializable});
  CheckOptions checking;
  checking.levels = {serializable};
  checking.expected_order = ExpectedOrder{.by = by, .names = {}, .title = "the database's"};
  const auto expected = check(m.history, checking).expected_order;
  ASSERT_TRUE(expected);
  EXPECT_TRUE(expected->explains()) << expected->obstacle;
}

TEST(Sqlite, ItsLogExplainsWhatClientsSaw) { expect_explained_by_log({}, ""); }

TEST(Redis, ItsLogExplainsWhatClientsSaw) {
  ASSAY_SERVER(urls, "redis");
  expect_explained_by_log(urls, "watch");
}

TEST(Etcd, ItsLogExplainsWhatClientsSaw) {
  ASSAY_SERVER(urls, "etcd");
  expect_explained_by_log(urls, "serializable");
}

TEST(Etcd, ItsRevisionsExplainWhatClientsSaw) {
  ASSAY_SERVER(urls, "etcd");
  expect_explained_by_log(urls, "serializable", ExpectedOrder::By::commit_ts);
}

// Without the order nothing is known of lost updates: reads that are repeated inside a transaction
// come first.
TEST(Postgresql, ReadCommittedShowsLostUpdatesByName) {
  ASSAY_SERVER(urls, "postgres");
  collect::RunOptions options = looking_inside(contended(urls, "read committed", "general"));
  options.txns = 100;
  options.workload_options.keys = 30;
  const Measured m = measure(options, {pl_2, pl_cs});
  EXPECT_EQ(m.outcome(pl_2), Outcome::satisfied);
  EXPECT_EQ(m.anomaly(pl_cs), Anomaly::lost_update);
}

collect::RunOptions with_queries(const std::vector<std::string>& urls, std::string isolation) {
  collect::RunOptions options = looking_inside(contended(urls, std::move(isolation), "predicates"));
  options.txns = 60;
  options.workload_options.keys = 50;
  options.workload_options.ops = 4;
  options.workload_options.read_share = 0;
  return options;
}

void expect_known_snapshots(const Measured& m) {
  ASSERT_TRUE(m.stats.log);
  EXPECT_EQ(m.stats.log->missing, "");
  EXPECT_GT(m.stats.log->queries, 100u);
  EXPECT_EQ(m.stats.log->resolved_queries, m.stats.log->queries);
  EXPECT_FALSE(contradicted(m));
}

// What a query passed over is that of its snapshot, at every isolation level. Nearly every run
// shows phantoms, and none of 20 does never.
TEST(Postgresql, ItsSnapshotsShowPhantoms) {
  ASSAY_SERVER(urls, "postgres");
  Measured m;
  collect::RunOptions options = with_queries(urls, "repeatable read");
  for (options.seed = 1; options.seed <= 20 && m.outcome(pl_3) != Outcome::violated;
       ++options.seed) {
    m = measure(options, {pl_2_plus, pl_3, adya_si});
    expect_known_snapshots(m);
    EXPECT_EQ(m.outcome(pl_2_plus), Outcome::satisfied);
    EXPECT_EQ(m.outcome(adya_si), Outcome::satisfied);
  }
  EXPECT_EQ(m.outcome(pl_3), Outcome::violated);
  EXPECT_NE(m.anomaly(pl_3), Anomaly::none);
}

TEST(Postgresql, ItsSnapshotsAreThoseOfItsIsolation) {
  ASSAY_SERVER(urls, "postgres");
  const Measured serial = measure(with_queries(urls, "serializable"), {pl_3, serializable});
  expect_known_snapshots(serial);
  EXPECT_EQ(serial.outcome(pl_3), Outcome::satisfied);
  EXPECT_EQ(serial.outcome(serializable), Outcome::satisfied);
  const Measured statements = measure(with_queries(urls, "read committed"), {pl_2, pl_3});
  expect_known_snapshots(statements);
  EXPECT_EQ(statements.outcome(pl_2), Outcome::satisfied);
  EXPECT_NE(statements.outcome(pl_3), Outcome::unknown);
}

// Whatever the server was doing, its log has all that it acknowledged, and settles what it did not.
void expect_complete_after_kills(std::vector<std::string> urls, const std::string& isolation,
                                 const std::string& nodes) {
  collect::RunOptions options = looking_inside(contended(std::move(urls), isolation, "general"));
  options.txns = 0;
  options.seconds = 4;
  options.timeout = std::chrono::milliseconds(1000);
  options.workload_options.keys = 50;
  options.faults.kinds = {FaultKind::kill};
  options.faults.interval = 0.8;
  options.faults.node_command = std::string(places::kSource) + "/dev/db node " + nodes;
  Measured m = measure(options, kNeedOrder);
  // A busy machine takes longer to come back from each kill.
  for (int tries = 0; tries < 6 && m.stats.committed <= 50; ++tries) {
    options.seconds *= 2;
    m = measure(options, kNeedOrder);
  }
  EXPECT_GT(m.stats.committed, 50u);
  expect_complete(m);
}

TEST(Postgresql, TellsItsVersionOrderAfterKills) {
  ASSAY_SERVER(urls, "postgres");
  expect_complete_after_kills(urls, "serializable", "postgres");
}

TEST(Mariadb, TellsItsVersionOrderAfterKills) {
  ASSAY_SERVER(urls, "mariadb");
  expect_complete_after_kills(urls, "serializable", "mariadb");
}

TEST(Redis, TellsItsVersionOrderAfterKills) {
  ASSAY_SERVER(urls, "redis");
  expect_complete_after_kills(urls, "watch", "redis");
}

TEST(Etcd, TellsItsVersionOrderAfterKills) {
  ASSAY_SERVER(urls, "etcd");
  expect_complete_after_kills(urls, "serializable", "etcd");
}

// Ends sessions in the middle of transactions, for as long as the run goes on: COMMIT then finds
// nobody.
class EndedSessions {
 public:
  explicit EndedSessions(std::string url) : url_(std::move(url)), thread_([this] { end_some(); }) {}
  ~EndedSessions() { stop(); }
  void stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }

 private:
  void end_some() const {
    const std::string command =
        "psql -q -o /dev/null '" + url_ +
        "' -c \"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in "
        "transaction' AND application_name = 'assay' ORDER BY random() LIMIT 2\"";
    while (!stop_) {
      // A server that is busy may refuse one more connection for a moment.
      (void)!std::system(command.c_str());
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
    }
  }

  std::string url_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

// The transactions that the history says the log shows not to have committed.
std::set<std::string> shown_not_committed(const History& h) {
  std::set<std::string> names;
  for (const Event& event : h.events()) {
    const auto said = nlohmann::json::parse(event.json);
    if (said["event"] == "settled")
      for (const auto& name : said["aborted"]) names.insert(name);
  }
  return names;
}

uint64_t unknown_writers(const History& h) {
  uint64_t count = 0;
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    bool writes = false;
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i) writes |= installs_version(h.op(i));
    count += h.status(t) == TxnStatus::unknown && writes;
  }
  return count;
}

// One in two shows it, where the machine is slow; in so many none does less than once in a million
// times.
constexpr int kAttempts = 20;

collect::RunOptions contended_for(double seconds, const std::vector<std::string>& urls) {
  collect::RunOptions options = looking_inside(contended(urls, "serializable", "general"));
  options.txns = 0;
  options.seconds = seconds;
  options.workload_options.keys = 50;
  return options;
}

// When no session is left that might still commit, what a complete log does not have did not
// commit.
TEST(Postgresql, ItsLogSettlesWhatDidNotCommit) {
  ASSAY_SERVER(urls, "postgres");
  Measured m;
  // Whether a session is ended just before it commits is a matter of chance.
  for (int attempt = 0; attempt < kAttempts && shown_not_committed(m.history).empty(); ++attempt) {
    const EndedSessions ended(urls.front());
    m = measure(contended_for(6, urls), kNeedOrder);
    expect_complete(m);
  }
  const std::set<std::string> aborted = shown_not_committed(m.history);
  EXPECT_GT(aborted.size(), 0u);
  EXPECT_EQ(m.stats.log->not_committed, aborted.size());
  std::set<std::string> logged;
  for (const KnownOrder& order : m.history.known_orders())
    for (size_t i = 0; i < order.versions.size(); ++i) logged.insert(m.history.name(order.txn(i)));
  uint64_t settled = 0;
  for (TxnId t = 0; t < m.history.txn_count(); ++t) {
    if (!aborted.contains(m.history.name(t))) continue;
    ++settled;
    EXPECT_NE(m.history.status(t), TxnStatus::committed) << m.history.name(t);
    EXPECT_FALSE(logged.contains(m.history.name(t))) << m.history.name(t);
  }
  EXPECT_EQ(settled, aborted.size());
}

// A session that is still there, whosever it is, might be one of ours that has not finished.
TEST(Postgresql, ASessionThatIsLeftKeepsOutcomesOpen) {
  ASSAY_SERVER(urls, "postgres");
  collect::DriverOptions other;
  other.url = urls.front();
  const auto driver = collect::open_driver(other);
  ASSERT_TRUE(driver.ok());
  Measured m;
  // Whether a session is ended just as it commits is a matter of chance.
  for (int attempt = 0; attempt < kAttempts && unknown_writers(m.history) == 0; ++attempt) {
    const EndedSessions ended(urls.front());
    const auto left = (*driver)->connect();
    ASSERT_TRUE(left.ok());
    m = measure(contended_for(3, urls), kNeedOrder);
  }
  ASSERT_TRUE(m.stats.log);
  EXPECT_EQ(m.stats.log->missing, "");
  EXPECT_GT(unknown_writers(m.history), 0u);
  EXPECT_EQ(m.stats.log->not_committed, 0u);
  EXPECT_TRUE(shown_not_committed(m.history).empty());
}

// The server drops a temporary slot when it dies, and the log with it: the history then says
// nothing of any order.
TEST(Postgresql, ATemporarySlotDiesWithTheServer) {
  ASSAY_SERVER(urls, "postgres");
  collect::RunOptions options = looking_inside(contended(urls, "serializable", "general"));
  options.txns = 0;
  options.seconds = 3600;
  std::atomic<bool> killed = false;
  options.stop = &killed;
  options.progress = [&](const collect::RunProgress& p) {
    if (killed || p.committed <= 100) return;
    ASSERT_TRUE(dev_db("node postgres kill 1") && dev_db("node postgres start 1"));
    killed = true;
  };
  const Measured m = measure(options, {serializable});
  ASSERT_TRUE(m.stats.log);
  EXPECT_NE(m.stats.log->missing.find("temporary slot"), std::string::npos) << m.stats.log->missing;
  EXPECT_EQ(m.history.orders_complete_to(), Interval::kUnknown);
  EXPECT_TRUE(m.history.known_orders().empty());
}

}  // namespace
}  // namespace assay::internal
