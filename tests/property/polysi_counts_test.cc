// The counts of PolySI's Table 3 on its six histories, with saturation restricted to PolySI's
// rules. The histories are not part of this repository; where they are not at hand, the test is
// skipped.
#include <gtest/gtest.h>

#include "assay/format.h"
#include "formats/shared_data.h"
#include "infer/constraints.h"
#include "levels/walk.h"

namespace assay::internal {
namespace {

struct Row {
  const char* name;
  const char* folder;
  InitialWrites
      initial;  // what PolySI's reader of the format takes the initial transaction to write
  ConstraintCount before;
  ConstraintCount after;
};

// Constraints as published, and C-Twitter's and all dependencies as an independent reimplementation
// of the paper counts them (published: C-Twitter 277 and 776 after; dependencies before in
// thousands, GeneralWH 468).
constexpr Row kTable3[] = {
    {"TPC-C", "tpcc-10000", InitialWrites::keys_read_initially, {386'781, 3'628'163}, {0, 0}},
    {"GeneralRH",
     "25_400_8_10000_0.95_uniform",
     InitialWrites::every_key,
     {4'198, 40'357},
     {29, 77}},
    {"RUBiS", "rubis-10000", InitialWrites::keys_read_initially, {14'634, 171'793}, {149, 839}},
    {"C-Twitter",
     "twitter-10000",
     InitialWrites::keys_read_initially,
     {58'795, 307'251},
     {219, 601}},
    {"GeneralRW",
     "25_400_8_10000_0.5_uniform",
     InitialWrites::every_key,
     {90'019, 399'592},
     {2'565, 5'435}},
    {"GeneralWH",
     "25_400_8_10000_0.3_uniform",
     InitialWrites::every_key,
     {167'073, 560'509},
     {6'962, 14'376}},
};

uint64_t counter(const CheckResult& result, std::string_view name) {
  for (const auto& [counted, amount] : result.counters) {
    if (counted == name) return amount;
  }
  ADD_FAILURE() << "nothing counted as " << name;
  return 0;
}

TEST(PolysiCounts, table3) {
  const auto data = formats::shared_data() / "polysi";
  if (!std::filesystem::is_directory(data)) GTEST_SKIP() << "PolySI's histories are not here";
  for (const Row& row : kTable3) {
    auto path = data / row.folder / "hist-00000";
    if (std::filesystem::exists(path / "history.bincode")) path /= "history.bincode";
    if (!std::filesystem::exists(path)) continue;
    const auto read = read_history(path);
    ASSERT_TRUE(read.ok()) << read.error().to_string();
    const auto before = count_constraints(make_problem(read->history), row.initial,
                                          [](Node, Node) { return true; });
    ASSERT_TRUE(before.has_value());
    EXPECT_EQ(before->constraints, row.before.constraints) << row.name;
    EXPECT_EQ(before->dependencies, row.before.dependencies) << row.name;
    CheckOptions options;
    options.levels = {LevelId::session_si};
    options.count_constraints = true;
    options.speed_ups.set(SpeedUp::replay, false);
    options.speed_ups.set(SpeedUp::early_search, false);
    options.speed_ups.set(SpeedUp::decomposition, false);
    options.speed_ups.set(SpeedUp::begin_rule, false);
    options.speed_ups.set(SpeedUp::combined_writes, false);
    const CheckResult result = decide_levels(read->history, options);
    EXPECT_EQ(counter(result, "constraints after saturation"), row.after.constraints) << row.name;
    EXPECT_EQ(counter(result, "unknown dependencies after"), row.after.dependencies) << row.name;
    EXPECT_EQ(outcome_name(result.verdicts[0].outcome), "satisfied") << row.name;
    // A search that makes all choices at the start has these to make.
    options.speed_ups.leave_out(SpeedUp::lazy_choices);
    if (row.after.constraints != 0) {
      EXPECT_EQ(counter(decide_levels(read->history, options), "choices"), row.after.constraints)
          << row.name;
    }
    // With all rules less is left, never more.
    options.speed_ups = {};
    options.speed_ups.set(SpeedUp::replay, false);
    options.speed_ups.set(SpeedUp::early_search, false);
    options.speed_ups.set(SpeedUp::decomposition, false);
    EXPECT_LE(counter(decide_levels(read->history, options), "constraints after saturation"),
              row.after.constraints)
        << row.name;
  }
}

}  // namespace
}  // namespace assay::internal
