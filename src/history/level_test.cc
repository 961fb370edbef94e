#include "assay/level.h"

#include <gtest/gtest.h>

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

TEST(Level, levelsOnRequestStandBeforeTheOthers) {
  const auto usual = default_levels();
  ASSERT_FALSE(usual.empty());
  EXPECT_EQ(usual.front().id, LevelId::read_committed);
  EXPECT_EQ(usual.back().id, all_levels().back().id);
  for (const LevelInfo& level : all_levels())
    EXPECT_EQ(level.on_request(), level.id < LevelId::read_committed) << level.name;
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
