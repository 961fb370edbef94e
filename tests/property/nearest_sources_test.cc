// What is decided of a weak level with sources that an order explains, or that snapshots would have
// had, brute force and the verifier say too.
#include <gtest/gtest.h>

#include "assay/check.h"
#include "assay/verify.h"
#include "cases.h"
#include "levels/case.h"
#include "levels/rules.h"
#include "oracle/oracle.h"
#include "oracle/random_draft.h"

namespace assay::internal {
namespace {

TEST(NearestSources, AreAcceptedAsTheOracleSays) {
  uint64_t asked = 0, accepted = 0;
  for (uint64_t i = 0; i < histories(20'000); ++i) {
    Rng rng = Rng(rotated(23)).split(i);
    const Draft draft = random_draft(rng, {.duplicates = 0.7, .rich = 0.7});
    const Result<History> history = draft.history();
    ASSERT_TRUE(history.ok());
    CheckOptions options;
    for (const LevelId level : {LevelId::read_committed, LevelId::read_atomic, LevelId::causal,
                                LevelId::monotonic_reads}) {
      options.levels = {level};
      Case c(*history, options);
      if (!c.match() || !c.is_explainable() || !c.has_open_reads() || c.has_aggregates) continue;
      // What one read refutes by itself has been refuted before.
      if (c.problem.found.non_repeatable.anomaly != Anomaly::none) continue;
      rules::refute_by_sourceless(c, level_info(level));
      if (c.lattice.is_decided(level)) continue;
      rules::take_nearest_sources(c, level_info(level));
      const Outcome expected = oracle::decide(*history, level);
      if (expected == Outcome::unknown) continue;
      asked += expected == Outcome::satisfied;
      if (c.lattice.outcome(level) == Outcome::unknown) continue;
      ++accepted;
      ASSERT_EQ(c.lattice.outcome(level), expected) << level_info(level).name << "\n"
                                                    << draft.text();
      const Status verified = verify(c.lattice.certificate(level), *history);
      ASSERT_TRUE(verified.ok()) << verified.error().to_string() << "\n" << draft.text();
    }
  }
  EXPECT_GT(10 * accepted, asked);  // narrowing leaves nothing where nothing can be ruled out
  EXPECT_GT(accepted, histories(20'000) / 100);
}

}  // namespace
}  // namespace assay::internal
