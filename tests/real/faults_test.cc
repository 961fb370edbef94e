// Runs under faults: each fault happens, is healed, and the history stays one that the database can explain.
#include "measure.h"

namespace assay {
namespace {

using collect::FaultKind;

// Runs for a few seconds with the fault and returns how often it came.
size_t disturbed(collect::RunOptions options, FaultKind kind, const std::string& nodes,
                 LevelId level) {
  options.txns = 0;
  options.seconds = 5;
  options.timeout = std::chrono::milliseconds(1000);
  options.workload_options.keys = 50;
  options.faults.kinds = {kind};
  options.faults.interval = 0.8;
  options.faults.node_command = ASSAY_SOURCE_DIR "/dev/db node " + nodes;
  const Measured m = measure(options, {level});
  EXPECT_EQ(m.outcome(level), Outcome::satisfied) << anomaly_info(m.anomaly(level)).name;
  EXPECT_GT(m.stats.committed, 50u);
  size_t faults = 0;
  for (const Event& event : m.history.events())
    faults += event.json.find("\"fault\"") != std::string::npos;
  EXPECT_EQ(m.history.events().size(), 2 * faults) << "each is healed";
  return faults;
}

TEST(Postgresql, SurvivesKills) {
  ASSAY_SERVER(urls, "postgres");
  EXPECT_GE(disturbed(contended(urls, "SERIALIZABLE", "general"), FaultKind::restart, "postgres",
                      LevelId::session_serializable),
            1u);
}

TEST(Postgresql, SurvivesPartitions) {
  ASSAY_SERVER(urls, "postgres");
  EXPECT_GE(disturbed(contended(urls, "SERIALIZABLE", "general"), FaultKind::partition, "postgres",
                      LevelId::session_serializable),
            1u);
}

TEST(Mariadb, SurvivesPauses) {
  ASSAY_SERVER(urls, "mariadb");
  EXPECT_GE(disturbed(contended(urls, "SERIALIZABLE", "general"), FaultKind::pause, "mariadb",
                      LevelId::strict_serializable),
            1u);
}

TEST(Etcd, SurvivesDelays) {
  ASSAY_SERVER(urls, "etcd");
  EXPECT_GE(disturbed(contended(urls, "serializable", "general"), FaultKind::delay, "etcd",
                      LevelId::strict_serializable),
            1u);
}

}  // namespace
}  // namespace assay
