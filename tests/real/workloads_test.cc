// Every workload against real servers, shortly, at the isolation that must refuse whatever it can
// show.
#include "collect/workload.h"
#include "measure.h"

namespace assay::internal {
namespace {

using enum LevelId;

// `exempt`: how the names of those begin of which only the running is asked.
void expect_all_satisfy(const std::vector<std::string>& urls, LevelId level,
                        std::string_view exempt) {
  for (const collect::WorkloadInfo& workload : collect::all_workloads()) {
    collect::RunOptions options = contended(urls, "SERIALIZABLE", std::string(workload.name));
    options.workload_options.keys = 30;
    options.sessions = 4;
    options.txns = 20;
    const bool judged = exempt.empty() || !workload.name.starts_with(exempt);
    const Measured m =
        measure(options, judged ? std::vector{level} : std::vector<LevelId>{read_committed});
    EXPECT_EQ(m.stats.committed, 80u) << workload.name;
    if (!judged) continue;
    EXPECT_EQ(m.outcome(level), Outcome::satisfied) << workload.name;
  }
}

// Inserts that did nothing are not guarded there (docs/findings/postgresql-inserts.md).
TEST(Postgresql, RunsEveryWorkload) {
  ASSAY_SERVER(urls, "postgres");
  expect_all_satisfy(urls, session_serializable, "v-range");
}

TEST(Mariadb, RunsEveryWorkload) {
  ASSAY_SERVER(urls, "mariadb");
  expect_all_satisfy(urls, strict_serializable, "");
}

}  // namespace
}  // namespace assay::internal
