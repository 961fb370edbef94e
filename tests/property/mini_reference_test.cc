// Mini-transactions: the checker, which needs no transitive closure, against MTC's algorithm with it, and both against the
// definitions.
#include "oracle/mini_reference.h"

#include <gtest/gtest.h>

#include <array>
#include <map>

#include "checked.h"
#include "history/mini_transactions.h"
#include "oracle/draft.h"
#include "oracle/oracle.h"

namespace assay::internal {
namespace {

using enum LevelId;

constexpr int kHistories = 6000;

// Transactions of random shapes, which read what was there last, or, now and then, something older.
oracle::Draft random_mini_history(Rng& rng) {
  oracle::Draft draft{.initial = 0};
  const int keys = 1 + static_cast<int>(rng.below(3));
  std::map<int, std::vector<int64_t>> versions;
  int64_t next = 1, clock = 0;
  const double stale = rng.unit() * 0.5;
  for (uint64_t left = 2 + rng.below(6); left > 0; --left) {
    const std::string_view shape = mini_shapes()[rng.below(mini_shapes().size())];
    const int x = static_cast<int>(rng.below(keys));
    const int y = keys == 1 ? x + 1 : (x + 1 + static_cast<int>(rng.below(keys - 1))) % keys;
    oracle::DraftTxn txn{.session = static_cast<int>(rng.below(3))};
    txn.begin = Interval::point(clock + static_cast<int64_t>(rng.below(2)));
    std::map<int, int64_t> seen;
    for (size_t i = 0; i < shape.size(); i += 2) {
      const int key = shape[i + 1] == 'x' ? x : y;
      if (shape[i] == 'w') {
        seen[key] = next++;
        txn.ops.push_back({.kind = OpKind::write, .key = key, .value = seen[key]});
        continue;
      }
      if (!seen.contains(key)) {
        std::vector<int64_t>& all = versions[key];
        if (all.empty()) all.push_back(0);
        seen[key] = rng.chance(stale) ? all[rng.below(all.size())] : all.back();
      }
      txn.ops.push_back({.kind = OpKind::read, .key = key, .value = seen[key]});
    }
    for (const oracle::DraftOp& op : txn.ops)
      if (op.kind == OpKind::write && *op.value == seen[op.key])
        versions[op.key].push_back(*op.value);
    clock += static_cast<int64_t>(rng.below(3));
    txn.end = Interval::point(clock + 1);
    txn.begin.request = txn.begin.response = std::min(txn.begin.request, clock);
    clock += 2;
    draft.txns.push_back(std::move(txn));
  }
  return draft;
}

TEST(MiniReference, theChecksAgreeWithTheClosure) {
  Rng rng(61);
  std::array<std::array<int, 3>, kLevelCount> outcomes{};
  for (int i = 0; i < kHistories; ++i) {
    const oracle::Draft draft = random_mini_history(rng);
    const auto history = draft.history();
    ASSERT_TRUE(history.ok()) << history.error().message << draft.text();
    CheckOptions options;
    options.levels = {session_si, session_serializable, strict_serializable};
    std::string complaint;
    const oracle::Verdicts found = checked(*history, &complaint, options);
    ASSERT_EQ(complaint, "") << draft.text();
    for (const LevelId level : options.levels) {
      const Outcome reference = oracle::by_mini_transactions(*history, level);
      ++outcomes[static_cast<size_t>(level)][static_cast<size_t>(reference)];
      ASSERT_EQ(outcome_name(found[static_cast<size_t>(level)]), outcome_name(reference))
          << level_info(level).name << "\n"
          << draft.text();
      ASSERT_EQ(outcome_name(oracle::decide(*history, level)), outcome_name(reference))
          << level_info(level).name << "\n"
          << draft.text();
    }
  }
  for (const LevelId level : {session_si, session_serializable, strict_serializable}) {
    const auto& count = outcomes[static_cast<size_t>(level)];
    EXPECT_GT(count[static_cast<size_t>(Outcome::satisfied)], kHistories / 20);
    EXPECT_GT(count[static_cast<size_t>(Outcome::violated)], kHistories / 20);
    EXPECT_EQ(count[static_cast<size_t>(Outcome::unknown)], 0);
  }
}

TEST(MiniReference, othersAreNotItsBusiness) {
  const oracle::Draft blind{.initial = 0,
                            .txns = {{.ops = {{.kind = OpKind::write, .key = 0, .value = 1}}}}};
  EXPECT_EQ(oracle::by_mini_transactions(*blind.history(), session_si), Outcome::unknown);
  const oracle::Draft read{.initial = 0,
                           .txns = {{.ops = {{.kind = OpKind::read, .key = 0, .value = 0}}}}};
  EXPECT_EQ(oracle::by_mini_transactions(*read.history(), session_si), Outcome::satisfied);
  EXPECT_EQ(oracle::by_mini_transactions(*read.history(), strict_serializable), Outcome::unknown);
  EXPECT_EQ(oracle::by_mini_transactions(*read.history(), causal), Outcome::unknown);
}

}  // namespace
}  // namespace assay::internal
