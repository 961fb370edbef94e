#include <gtest/gtest.h>

#include "assay/check.h"

namespace assay {
namespace {

TEST(SpeedUps, EachIsFoundByItsName) {
  for (const SpeedUpInfo& info : all_speed_ups())
    EXPECT_EQ(find_speed_up(info.name), info.id) << info.name;
  EXPECT_EQ(find_speed_up("replays"), std::nullopt);
}

TEST(SpeedUps, AreAllUsedUntilLeftOut) {
  SpeedUps used;
  for (const SpeedUpInfo& info : all_speed_ups()) EXPECT_TRUE(used.has(info.id)) << info.name;
  used.leave_out(SpeedUp::zones);
  EXPECT_FALSE(used.has(SpeedUp::zones));
  EXPECT_TRUE(used.has(SpeedUp::carry));
  used.set(SpeedUp::zones, true);
  EXPECT_TRUE(used.has(SpeedUp::zones));
}

}  // namespace
}  // namespace assay
