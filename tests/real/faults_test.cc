// Runs under faults: each fault happens, is healed, and the history stays one that the database can
// explain.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "measure.h"
#include "places.h"

namespace assay::internal {
namespace {

using collect::FaultKind;

// Runs for a few seconds with the faults, each of which must come.
History expect_survives(collect::RunOptions options, std::vector<FaultKind> kinds,
                        const std::string& nodes, LevelId level) {
  options.txns = 0;
  if (options.seconds == 0) options.seconds = 5;
  options.timeout = std::chrono::milliseconds(1000);
  options.workload_options.keys = 50;
  options.faults.kinds = kinds;
  options.faults.interval = 0.8;
  options.faults.node_command = std::string(places::kSource) + "/dev/db node " + nodes;
  Measured m = measure(options, {level});
  const auto count = [&](const std::string& text) {
    size_t events = 0;
    for (const Event& event : m.history.events())
      events += event.json.find('"' + text + '"') != std::string::npos;
    return events;
  };
  const auto all_came = [&] {
    return std::ranges::all_of(
        kinds, [&](FaultKind kind) { return count(std::string(fault_name(kind))) >= 2; });
  };
  // A busy machine takes longer to come back from each fault.
  for (int tries = 0; tries < 6 && (m.stats.committed <= 50 || !all_came()); ++tries) {
    options.seconds *= 2;
    m = measure(options, {level});
  }
  EXPECT_EQ(m.outcome(level), Outcome::satisfied) << anomaly_info(m.anomaly(level)).name;
  EXPECT_GT(m.stats.committed, 50u);
  for (const FaultKind kind : kinds) EXPECT_GE(count(std::string(fault_name(kind))), 2u);
  EXPECT_EQ(count("fault"), count("heal")) << "each is healed";
  return std::move(m.history);
}

// Nothing that began after a server stood still ended before it went on.
void expect_standstill(const History& h) {
  struct Pause {
    int64_t from, to;
  };
  std::vector<Pause> pauses;
  for (const Event& event : h.events()) {
    const auto e = nlohmann::json::parse(event.json);
    if (e.value("what", "") != "pause") continue;
    if (e["event"] == "fault")
      pauses.push_back({e["until"].get<int64_t>(), INT64_MAX});
    else
      pauses.back().to = e["at"].get<int64_t>();
  }
  ASSERT_GE(pauses.size(), 2u);
  uint64_t within = 0;
  for (TxnId t = 0; t < h.txn_count(); ++t)
    for (const Pause& p : pauses)
      within += h.status(t) == TxnStatus::committed && h.begin_time(t).request > p.from &&
                h.end_time(t).response < p.to;
  EXPECT_EQ(within, 0u) << "transactions went on while the server was paused";
}

// PostgreSQL's SERIALIZABLE is snapshot isolation at least, and no more where commits overtake each
// other (docs/findings/postgresql-commit-order.md), which a busy machine makes likely. Its backends
// have process groups of their own.
TEST(Postgresql, SurvivesPauses) {
  ASSAY_SERVER(urls, "postgres");
  expect_standstill(expect_survives(contended(urls, "SERIALIZABLE", "general"), {FaultKind::pause},
                                    "postgres", LevelId::session_si));
}

TEST(Postgresql, SurvivesKills) {
  ASSAY_SERVER(urls, "postgres");
  expect_survives(contended(urls, "SERIALIZABLE", "general"), {FaultKind::kill, FaultKind::restart},
                  "postgres", LevelId::session_si);
}

// The other nodes go on, and the one that was killed gets from them what it missed.
TEST(Galera, SurvivesKillsOfANode) {
  ASSAY_SERVER(urls, "galera");
  std::vector<std::string> changed;
  for (const std::string& url : urls)
    changed.push_back(url + "?innodb_snapshot_isolation=ON&wsrep_sync_wait=1");
  collect::RunOptions options = contended(changed, "REPEATABLE READ", "general");
  options.seconds = 2;  // a node takes some ten seconds to come back
  expect_survives(options, {FaultKind::kill}, "galera", LevelId::session_si);
}

// As after the machine itself went down: dev/db forms the cluster again from the node that holds
// most.
TEST(Galera, ComesBackAfterAllItsNodesDied) {
  ASSAY_SERVER(urls, "galera");
  for (const char* node : {"1", "2", "3"})
    ASSERT_TRUE(dev_db("node galera kill " + std::string(node))) << node;
  std::string line;
  for (const std::string& url : urls) line += (line.empty() ? "" : " ") + url;
  EXPECT_EQ(dev_db_line("up galera"), line);
  expect_survives(contended(urls, "REPEATABLE READ", "general"), {}, "galera",
                  LevelId::read_committed);
}

TEST(Postgresql, SurvivesPartitions) {
  ASSAY_SERVER(urls, "postgres");
  expect_survives(contended(urls, "SERIALIZABLE", "general"), {FaultKind::partition}, "postgres",
                  LevelId::session_si);
}

TEST(Mariadb, SurvivesPauses) {
  ASSAY_SERVER(urls, "mariadb");
  expect_standstill(expect_survives(contended(urls, "SERIALIZABLE", "general"), {FaultKind::pause},
                                    "mariadb", LevelId::strict_serializable));
}

// What was acknowledged is on the disk.
TEST(Mariadb, SurvivesKills) {
  ASSAY_SERVER(urls, "mariadb");
  expect_survives(contended(urls, "SERIALIZABLE", "general"), {FaultKind::kill, FaultKind::restart},
                  "mariadb", LevelId::session_serializable);
}

TEST(Redis, SurvivesKills) {
  ASSAY_SERVER(urls, "redis");
  expect_survives(contended(urls, "watch", "general"), {FaultKind::kill, FaultKind::restart},
                  "redis", LevelId::session_serializable);
}

TEST(Etcd, SurvivesKills) {
  ASSAY_SERVER(urls, "etcd");
  expect_survives(contended(urls, "serializable", "general"), {FaultKind::kill}, "etcd",
                  LevelId::session_serializable);
}

TEST(Tidb, SurvivesKills) {
  ASSAY_SERVER(urls, "tidb");
  expect_survives(
      contended({urls.front() + "?tidb_txn_mode=optimistic"}, "REPEATABLE READ", "general"),
      {FaultKind::kill}, "tidb", LevelId::strong_si);
}

TEST(Etcd, SurvivesDelays) {
  ASSAY_SERVER(urls, "etcd");
  expect_survives(contended(urls, "serializable", "general"), {FaultKind::delay}, "etcd",
                  LevelId::strict_serializable);
}

// The two that are left agree; what the one that stands still was told is of unknown outcome.
TEST(CassandraCluster, SurvivesPausesOfANode) {
  ASSAY_SERVER(urls, "cassandra-cluster");
  expect_survives(contended(urls, "serial", "lwt"), {FaultKind::pause}, "cassandra-cluster",
                  LevelId::linearizable);
}

}  // namespace
}  // namespace assay::internal
