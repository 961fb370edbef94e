// Histories of single operations: what is decided key by key is what brute force says, never left
// open, and proved, with the zones and by search alone.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "assay/verify.h"
#include "cases.h"
#include "history/accesses.h"
#include "levels/key_beam.h"
#include "levels/linearizable.h"
#include "levels/walk.h"
#include "oracle/oracle.h"
#include "oracle/random_draft.h"

namespace assay::internal {
namespace {

CheckResult linearized(const History& history, bool zones) {
  CheckOptions options;
  options.levels = {LevelId::linearizable};
  options.speed_ups.set(SpeedUp::zones, zones);
  return decide_levels(history, options);
}

// Where one operation of a session begins when the one before it ends, the keys are not independent
// of each other; the same where it was not told when an operation began.
bool sessions_touch(const History& history) {
  for (SessionId s = 0; s < history.session_count(); ++s) {
    int64_t ended = Interval::kUnknown;
    for (const TxnId t : history.session_txns(s)) {
      if (!history.begin_time(t).known() || history.begin_time(t).request <= ended) return true;
      if (history.status(t) == TxnStatus::committed) ended = history.end_time(t).response;
    }
  }
  return false;
}

std::string objection(const History& history, const CheckResult& result, Outcome expected) {
  const Verdict& v = result.verdicts[0];
  if (v.outcome == Outcome::unknown && sessions_touch(history)) return "";
  if (v.outcome != expected)
    return std::string(outcome_name(v.outcome)) + " " + v.reason + ", but it is " +
           std::string(outcome_name(expected));
  if (v.outcome == Outcome::unknown) return "";
  const Status verified = verify(result.certificates[v.certificate], history);
  return verified.ok() ? "" : verified.error().to_string();
}

struct LinearizableCounts {
  std::array<uint64_t, 3> outcomes{};
  std::array<uint64_t, 5> kinds{};
};

LinearizableCounts expect_agreement(uint64_t seed, uint64_t count, const RandomShape& shape,
                                    bool zones) {
  LinearizableCounts counts;
  for (uint64_t i = 0; i < count; ++i) {
    Rng rng = Rng(rotated(seed)).split(i);
    const Draft draft = random_draft(rng, shape);
    Result<History> history = draft.history();
    EXPECT_TRUE(history.ok());
    const Outcome expected = oracle::decide(*history, LevelId::linearizable);
    if (expected == Outcome::unknown) continue;
    const CheckResult result = linearized(*history, zones);
    const std::string why = objection(*history, result, expected);
    if (!why.empty()) {
      const Draft small = shrink(draft, [&](const Draft& d) {
        Result<History> h = d.history();
        if (!h.ok()) return false;
        const Outcome right = oracle::decide(*h, LevelId::linearizable);
        return right != Outcome::unknown && !objection(*h, linearized(*h, zones), right).empty();
      });
      ADD_FAILURE() << why << "\n" << small.text();
      return counts;
    }
    const Verdict& v = result.verdicts[0];
    ++counts.outcomes[static_cast<size_t>(v.outcome)];
    if (v.outcome != Outcome::unknown)
      ++counts.kinds[static_cast<size_t>(result.certificates[v.certificate].kind)];
  }
  return counts;
}

constexpr RandomShape kRegisters{
    .max_sessions = 5, .max_txns = 10, .max_keys = 2, .max_ops = 1, .timed = 1, .single_op = 1};

RandomShape rich(double duplicates) {
  RandomShape shape = kRegisters;
  shape.rich = 1;
  shape.duplicates = duplicates;
  return shape;
}

// Both answers and each kind of certificate that can occur did occur.
void expect_variety(const LinearizableCounts& counts,
                    std::initializer_list<Certificate::Kind> kinds) {
  EXPECT_GT(counts.outcomes[static_cast<size_t>(Outcome::satisfied)], 0u);
  EXPECT_GT(counts.outcomes[static_cast<size_t>(Outcome::violated)], 0u);
  EXPECT_LT(20 * counts.outcomes[static_cast<size_t>(Outcome::unknown)],
            counts.outcomes[static_cast<size_t>(Outcome::satisfied)]);
  for (const Certificate::Kind kind : kinds) EXPECT_GT(counts.kinds[static_cast<size_t>(kind)], 0u);
}

TEST(LinearizableAgreement, readsAndWrites) {
  using enum Certificate::Kind;
  expect_variety(expect_agreement(11, histories(40'000), kRegisters, true), {order, proof});
}

TEST(LinearizableAgreement, comparisonsInsertsAndRemoves) {
  using enum Certificate::Kind;
  expect_variety(expect_agreement(12, histories(40'000), rich(0), true), {order, proof, exhausted});
}

TEST(LinearizableAgreement, valuesWrittenTwice) {
  using enum Certificate::Kind;
  expect_variety(expect_agreement(13, histories(20'000), rich(1), true), {order, exhausted});
}

// Where few operations overlap the beam keeps all situations, so it finds an order exactly if there
// is one.
TEST(LinearizableAgreement, theBeamFindsWhatThereIs) {
  Rng rng(rotated(15));
  RandomShape shape = rich(1);
  shape.max_keys = 1;
  shape.drifting = 0;
  shape.vague = 0;
  uint64_t compared = 0, satisfied = 0;
  for (uint64_t i = 0; i < histories(40'000); ++i) {
    const Draft draft = random_draft(rng, shape);
    const Result<History> history = draft.history();
    if (!history.ok() || sessions_touch(*history)) continue;
    const Problem problem = make_problem(*history);
    if (problem.found.bad_read.anomaly != Anomaly::none || !decidable_by_key(problem)) continue;
    std::vector<TxnId> certain, possible;
    bool settled = true;  // nobody is dropped for having been read by nobody
    for (TxnId t = 0; t < history->txn_count(); ++t) {
      if (history->status(t) == TxnStatus::aborted) continue;
      const bool writes = installs_version(history->op(history->first_op(t)));
      if (history->status(t) == TxnStatus::committed) certain.push_back(t);
      if (history->status(t) == TxnStatus::unknown && writes) possible.push_back(t);
      settled = settled && history->op(history->first_op(t)).kind != OpKind::remove;
    }
    const Outcome expected = oracle::decide(*history, LevelId::linearizable);
    if (certain.empty() || expected == Outcome::unknown || !settled) continue;
    const OperationTimes times(*history);
    const KeyOperations ops(*history, times, certain, possible);
    Budget budget;
    const Judgement found = search_by_beam(ops, budget);
    ASSERT_EQ(found.outcome() == Outcome::satisfied, expected == Outcome::satisfied)
        << draft.text();
    ++compared;
    satisfied += expected == Outcome::satisfied;
    if (found.outcome() != Outcome::satisfied) continue;
    Certificate certificate = found.certificate;
    certificate.levels = {LevelId::linearizable};
    const Status verified = verify(certificate, *history);
    ASSERT_TRUE(verified.ok()) << verified.error().to_string() << "\n" << draft.text();
  }
  EXPECT_GT(compared, histories(40'000) / 20);
  EXPECT_GT(5 * satisfied, compared);
  EXPECT_LT(satisfied, compared);
}

TEST(LinearizableAgreement, bySearchAlone) {
  using enum Certificate::Kind;
  expect_variety(expect_agreement(14, histories(10'000), rich(0.3), false), {order, exhausted});
}

}  // namespace
}  // namespace assay::internal
