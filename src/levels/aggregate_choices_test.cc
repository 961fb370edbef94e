#include "levels/aggregate_choices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "assay/check.h"
#include "levels/proof_shape.h"

namespace assay::internal {
namespace {

using enum LevelId;

class Made {
 public:
  // Each transaction in a session of its own.
  Made& txn(const std::vector<Op>& ops) {
    builder_.begin_txn({.session = ValueView::of(++sessions_)});
    for (const Op& op : ops) EXPECT_TRUE(builder_.add(op));
    EXPECT_TRUE(builder_.end_txn().ok());
    return *this;
  }
  History history() { return *std::move(builder_).finish(); }

 private:
  HistoryBuilder builder_;
  int64_t sessions_ = 0;
};

Op put(const char* key, int64_t value) {
  return Op::write(ValueView::of(std::string_view(key)), ValueView::of(value));
}
Op aggregated(AggregateFunction function, int64_t value) {
  return Op::aggregated({}, {}, "value > 0", function,
                        function == AggregateFunction::count ? "" : "value", ValueView::of(value));
}
Op counted(int64_t value) { return aggregated(AggregateFunction::count, value); }
Op summed(int64_t value) { return aggregated(AggregateFunction::sum, value); }
Op greatest(int64_t value) { return aggregated(AggregateFunction::max, value); }

// Of one level.
Outcome outcome(const History& h, LevelId level, size_t* aggregate_steps = nullptr) {
  CheckOptions options;
  options.levels = {level};
  const CheckResult result = check(h, options);
  const Verdict& v = *result.find(level);
  if (v.outcome == Outcome::unknown) return v.outcome;
  const Certificate& certificate = result.certificates[v.certificate];
  if (v.outcome == Outcome::violated) sample::expect_proof_shape(certificate.proof);
  if (aggregate_steps != nullptr)
    *aggregate_steps = static_cast<size_t>(
        std::ranges::count(certificate.proof.steps, ProofStep::Kind::aggregate, &ProofStep::kind));
  return v.outcome;
}

TEST(AggregateChoices, TwoCountsOfOneTransactionAreOfOneState) {
  const History h = Made().txn({counted(0), counted(1)}).txn({put("x", 1)}).history();
  size_t steps = 0;
  EXPECT_EQ(outcome(h, serializable, &steps), Outcome::violated);
  EXPECT_EQ(steps, 1u);  // a count of 0 is a query without rows
  EXPECT_EQ(outcome(h, prefix), Outcome::violated);
}

// Each adds up what was there before it wrote, and neither saw what the other did.
TEST(AggregateChoices, SumsThatMissEachOtherAreASkew) {
  const History h = Made()
                        .txn({put("a", 1)})
                        .txn({summed(1), put("b", 2)})
                        .txn({summed(1), put("c", 3)})
                        .history();
  EXPECT_EQ(outcome(h, serializable), Outcome::violated);
  EXPECT_EQ(outcome(h, session_si), Outcome::satisfied);
}

TEST(AggregateChoices, TheReaderStandsWhereItsAggregatesAreRight) {
  const auto behind = [](const Op& seen, const Op& then) {
    return Made()
        .txn({put("x", 1)})
        .txn({put("y", 2)})
        .txn({put("x", 3)})
        .txn({seen, then})
        .history();
  };
  EXPECT_EQ(outcome(behind(summed(3), counted(2)), serializable), Outcome::satisfied);  // 1 and 2
  EXPECT_EQ(outcome(behind(summed(2), counted(1)), serializable), Outcome::satisfied);  // y alone
  EXPECT_EQ(outcome(behind(summed(2), counted(2)), serializable), Outcome::violated);
  EXPECT_EQ(outcome(behind(summed(5), greatest(3)), serializable), Outcome::satisfied);
  EXPECT_EQ(outcome(behind(summed(5), greatest(2)), serializable), Outcome::violated);
  EXPECT_EQ(outcome(behind(greatest(2), counted(1)), serializable), Outcome::satisfied);
}

// An aggregate sees what its own transaction wrote before it, even if others wrote the same key.
TEST(AggregateChoices, ItsOwnWritesAreThere) {
  EXPECT_EQ(
      outcome(Made().txn({put("x", 1)}).txn({put("x", 5), summed(5)}).history(), serializable),
      Outcome::satisfied);
  EXPECT_EQ(outcome(Made()
                        .txn({put("x", 1)})
                        .txn({put("y", 2), put("x", 2)})
                        .txn({put("x", 5), summed(7), summed(5)})
                        .history(),
                    serializable),
            Outcome::violated);
}

// Each reader counted a different number of rows, which fixes the order of the readers.
TEST(AggregateChoices, ManyCountsOrderManyWriters) {
  constexpr int64_t kKeys = 60;
  Made made;
  for (int64_t i = 0; i < kKeys; ++i) made.txn({put(("k" + std::to_string(i)).c_str(), 1)});
  for (int64_t i = 1; i <= kKeys; i += 3) made.txn({counted(kKeys - i)});
  const History h = made.history();
  EXPECT_EQ(outcome(h, serializable), Outcome::satisfied);
  EXPECT_EQ(outcome(h, session_si), Outcome::satisfied);
}

}  // namespace
}  // namespace assay::internal
