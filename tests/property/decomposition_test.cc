// Histories that fall apart: decided part by part they satisfy what they satisfy as a whole, with
// certificates for the whole, and the same ones for every number of threads.
#include <gtest/gtest.h>

#include <algorithm>

#include "assay/verify.h"
#include "cases.h"
#include "checked.h"
#include "levels/walk.h"
#include "oracle/hard_cases.h"
#include "oracle/oracle.h"

namespace assay::internal {
namespace {

uint64_t parts(const CheckResult& result) {
  for (const auto& [name, count] : result.counters) {
    if (name == "parts") return count;
  }
  return 0;
}

// Two small histories over different keys; they share no session, or one, or a whole time.
Draft two_in_one(Rng& rng) {
  const RandomShape shape = {.max_sessions = 3, .max_txns = 5, .max_keys = 2, .timed = 0.5};
  Draft draft = random_draft(rng, shape);
  const Draft other = random_draft(rng, shape);
  const int sessions = rng.chance(0.5) ? 2 : 10;
  size_t at = 0;
  for (DraftTxn txn : other.txns) {
    txn.session += sessions;
    for (DraftOp& op : txn.ops) {
      op.key += 10;
      op.hi += 10;
    }
    at += rng.below(draft.txns.size() - at + 1);
    draft.txns.insert(draft.txns.begin() + static_cast<ptrdiff_t>(at++), txn);
  }
  draft.initial = rng.chance(0.5) ? draft.initial : other.initial;
  return draft;
}

std::string certificates(const CheckResult& result, const History& history) {
  return write_certificates({history.content_hash(), result.certificates}, history);
}

TEST(Decomposition, keepsTheVerdicts) {
  Rng rng(rotated(1));
  uint64_t apart = 0, compared = 0;
  for (uint64_t i = 0; i < scaled(3000, 50); ++i) {
    const Draft draft = two_in_one(rng);
    const auto history = draft.history();
    if (!history.ok()) continue;  // the times of a shared session run backwards
    CheckOptions options;
    options.speed_ups.set(SpeedUp::replay, false);
    options.speed_ups.set(SpeedUp::carry, false);
    options.threads = 1;
    if (rng.chance(0.2)) options.engine = EngineId::dbcop;
    std::string complaint;
    const oracle::Verdicts found = checked(*history, &complaint, options);
    ASSERT_EQ(complaint, "") << draft.text();
    const oracle::Verdicts expected = oracle::decide_all(*history);
    for (const LevelInfo& level : default_levels()) {
      const auto at = static_cast<size_t>(level.id);
      ASSERT_EQ(outcome_name(found[at]), outcome_name(expected[at])) << level.name << "\n"
                                                                     << draft.text();
    }
    const CheckResult one = decide_levels(*history, options);
    ++compared;
    apart += parts(one) > 0;
    if (parts(one) == 0 || i % 5 != 0) continue;
    options.threads = 2;
    EXPECT_EQ(certificates(decide_levels(*history, options), *history),
              certificates(one, *history));
  }
  EXPECT_GT(apart, compared / 4);
}

// Many sessions in pairs: 60 parts of which several threads take their share.
TEST(Decomposition, threadsGiveTheSameBytes) {
  Rng rng(rotated(2));
  for (int round = 0; round < 6; ++round) {
    Draft draft;
    for (int pair = 0; pair < 60; ++pair) {
      const oracle::PolygraphShape shape = {
          .sessions = 3, .txns = 40, .keys = 8, .writes = 1, .stale = round < 3 ? 0.0 : 0.05};
      for (DraftTxn txn : oracle::polygraph_history(rng, shape).txns) {
        txn.session += 3 * pair;
        for (DraftOp& op : txn.ops) op.key += 8 * pair;
        draft.txns.push_back(txn);
      }
    }
    const auto history = draft.history();
    ASSERT_TRUE(history.ok());
    CheckOptions options;
    options.levels = {LevelId::session_si, LevelId::session_serializable};
    options.speed_ups.set(SpeedUp::replay, false);
    options.threads = 1;
    const CheckResult one = decide_levels(*history, options);
    EXPECT_GE(parts(one), 60u);
    for (const Certificate& c : one.certificates) {
      const Status verified = verify(c, *history);
      EXPECT_TRUE(verified.ok()) << verified.error().to_string();
    }
    for (const unsigned threads : {2u, 4u, 0u}) {
      options.threads = threads;
      EXPECT_EQ(certificates(decide_levels(*history, options), *history),
                certificates(one, *history));
    }
  }
}

}  // namespace
}  // namespace assay::internal
