#include "assay/level.h"

#include <gtest/gtest.h>

#include "history/level_name.h"

namespace assay::internal {
namespace {

TEST(Level, idsAreInTableOrderAndNamesAreFound) {
  int i = 0;
  for (const LevelInfo& level : all_levels()) {
    EXPECT_EQ(static_cast<int>(level.id), i++);
    EXPECT_EQ(find_level(level.name), level.id);
  }
  EXPECT_EQ(find_level("snapshot-isolation"), LevelId::session_si);
  EXPECT_EQ(find_level("ser"), LevelId::session_serializable);
  EXPECT_FALSE(find_level("isolation").has_value());
  EXPECT_FALSE(find_level("").has_value());
  EXPECT_EQ(level_group("all").size(), all_levels().size());
  EXPECT_EQ(level_group("session-guarantees").size(), 4u);
  EXPECT_TRUE(level_group("serializable").empty());
}

// Elle's names of levels, where they are synonyms; of others it is said which levels are next to
// them.
TEST(Level, levelsOfOthers) {
  EXPECT_EQ(find_level("strong-serializable"), LevelId::strict_serializable);
  EXPECT_EQ(find_level("strong-session-serializable"), LevelId::session_serializable);
  EXPECT_EQ(find_level("strong-snapshot-isolation"), LevelId::strong_si);
  EXPECT_EQ(find_level("consistent-view"), LevelId::pl_2_plus);
  EXPECT_EQ(find_level("cursor-stability"), LevelId::pl_cs);
  EXPECT_EQ(find_level("monotonic atomic view"), LevelId::monotonic_atomic_view);
  for (const std::string_view name :
       {"Update Serializable", "strong-session-snapshot-isolation", "psi",
        "forward-consistent-view", "PL-2L", "monotonic_snapshot_read", "sequential", "pram"}) {
    EXPECT_FALSE(find_level(name).has_value()) << name;
    EXPECT_TRUE(is_neighbour(name)) << name;
    EXPECT_NE(no_level(name).find("; "), std::string::npos) << name;
  }
  EXPECT_FALSE(is_neighbour("serialisable"));
  EXPECT_FALSE(is_neighbour(""));
  EXPECT_EQ(no_level("frob"), "unknown level 'frob'");
}

TEST(Level, weakerLevelsStandFirst) {
  for (const LevelInfo& level : all_levels()) {
    for (LevelId weaker : next_weaker(level.id)) EXPECT_LT(weaker, level.id);
  }
}

TEST(Level, impliesIsTheTransitiveLattice) {
  EXPECT_TRUE(implies(LevelId::linearizable, LevelId::read_committed));
  EXPECT_TRUE(implies(LevelId::serializable, LevelId::adya_si));
  EXPECT_FALSE(implies(LevelId::serializable, LevelId::read_committed));
  EXPECT_FALSE(implies(LevelId::strict_serializable, LevelId::generalized_si));
  EXPECT_TRUE(implies(LevelId::causal, LevelId::causal));
}

// The same level with session order.
TEST(Level, levelsAreMixedWithSessionOrder) {
  EXPECT_EQ(mixable(LevelId::serializable), LevelId::session_serializable);
  EXPECT_EQ(mixable(LevelId::adya_si), LevelId::session_si);
  EXPECT_EQ(mixable(LevelId::monotonic_atomic_view), LevelId::read_committed);
  EXPECT_FALSE(mixable(LevelId::monotonic_reads).has_value());
  EXPECT_FALSE(mixable(LevelId::pl_3).has_value());
}

TEST(Level, levelsOnRequestAreNotAmongTheUsualOnes) {
  const auto usual = default_levels();
  ASSERT_FALSE(usual.empty());
  EXPECT_EQ(usual.front().id, LevelId::read_committed);
  EXPECT_EQ(usual.back().id, all_levels().back().id);
  for (const LevelInfo& level : all_levels())
    EXPECT_EQ(level.on_request(),
              level.id < LevelId::read_committed || level.id == LevelId::statement_snapshot)
        << level.name;
  EXPECT_TRUE(implies(LevelId::linearizable, LevelId::pl_1));
  EXPECT_FALSE(implies(LevelId::pl_2_plus, LevelId::pl_2_99));
  EXPECT_FALSE(implies(LevelId::pl_3, LevelId::read_committed));
}

TEST(Level, strongestKeepsMaximalElements) {
  const LevelId satisfied[] = {LevelId::read_committed, LevelId::adya_si, LevelId::serializable,
                               LevelId::read_atomic};
  EXPECT_EQ(strongest(satisfied),
            (std::vector<LevelId>{LevelId::read_atomic, LevelId::serializable}));
}

}  // namespace
}  // namespace assay::internal
