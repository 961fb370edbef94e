// What keeps its promise, over many transactions: a thousand here, 50,000 by dev/measure-databases
// (ASSAY_REAL_TXNS).
#include "measure.h"

namespace assay::internal {
namespace {

using enum LevelId;

void expect_clean(std::vector<std::string> urls, const std::string& isolation, LevelId level) {
  collect::RunOptions options = contended(std::move(urls), isolation, "general");
  options.workload_options.keys = 100;
  options.txns = clean_txns() / options.sessions;
  const Measured m = measure(options, {level});
  EXPECT_EQ(m.stats.committed, options.txns * options.sessions);
  EXPECT_EQ(m.outcome(level), Outcome::satisfied) << anomaly_info(m.anomaly(level)).name;
  printf("%s: %llu transactions of '%s' in %.1f s: %s %s\n", m.stats.driver.c_str(),
         static_cast<unsigned long long>(m.stats.committed), options.workload.c_str(),
         m.stats.seconds, std::string(level_info(level).name).c_str(),
         m.outcome(level) == Outcome::satisfied ? "satisfied" : "NOT satisfied");
}

TEST(Sqlite, IsStrictSerializable) { expect_clean({}, "", strict_serializable); }

TEST(Postgresql, SerializableIsClean) {
  ASSAY_SERVER(urls, "postgres");
  expect_clean(urls, "SERIALIZABLE", session_serializable);
}

TEST(Postgresql, RepeatableReadIsClean) {
  ASSAY_SERVER(urls, "postgres");
  expect_clean(urls, "REPEATABLE READ", session_si);
}

TEST(Etcd, IsStrictSerializable) {
  ASSAY_SERVER(urls, "etcd");
  expect_clean(urls, "serializable", strict_serializable);
}

TEST(Redis, IsStrictSerializable) {
  ASSAY_SERVER(urls, "redis");
  expect_clean(urls, "watch", strict_serializable);
}

}  // namespace
}  // namespace assay::internal
