// Deciding in slices comes to the verdict of the check in memory, in whatever order the lines stand
// (watch/slices.h).
#include "watch/slices.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assay/check.h"
#include "base/rng.h"
#include "cases.h"
#include "formats/time_order.h"
#include "oracle/random_draft.h"
#include "watched_lines.h"

namespace assay::internal::watch {
namespace {

enum class Lines { as_reported, by_session, shuffled };

// Those of a session stay in their order.
std::vector<TxnId> ordered(const History& h, Lines lines, Rng& rng) {
  std::vector<TxnId> order = as_reported(h, rng, 3);
  if (lines == Lines::by_session)
    std::ranges::stable_sort(order, {}, [&](TxnId t) { return h.session(t); });
  if (lines != Lines::shuffled) return order;
  std::vector<size_t> next(h.session_count(), 0);
  std::vector<SessionId> turns;
  for (const TxnId t : order) turns.push_back(h.session(t));
  for (size_t i = turns.size(); i > 1; --i) std::swap(turns[i - 1], turns[rng.below(i)]);
  for (size_t i = 0; i < turns.size(); ++i) order[i] = h.session_txns(turns[i])[next[turns[i]]++];
  return order;
}

struct Decision {
  Outcome outcome;
  bool sorted;
};

// Whatever is left open, no segment was refused.
void expect_verified(const Sliced& sliced, const std::string& text) {
  const bool refused = sliced.why.cause == UnknownCause::internal && !sliced.why.empty();
  EXPECT_FALSE(refused) << sliced.why.detail << "\n" << text;
}

Decision decide(const std::string& text, SliceOptions options, Rng& rng) {
  Result<formats::Input> input = formats::Input::memory(text, "test", nullptr);
  Result<Sliced> sliced = decide_in_slices(*input, options);
  EXPECT_TRUE(sliced.ok()) << sliced.error().to_string();
  expect_verified(*sliced, text);
  if (!sliced->out_of_order) return {sliced->outcome, false};
  Result<formats::Input> again = formats::Input::memory(text, "test", nullptr);
  auto source = formats::in_order_of_time(*again, {.memory = rng.below(3000)});
  EXPECT_TRUE(source.ok()) << source.error().to_string();
  auto lines = formats::Input::of(std::move(*source), "sorted", nullptr);
  options.watch.by_begin = true;
  // When one of unknown outcome was given up need not be known.
  if (rng.below(2) == 0) options.watch.lateness = int64_t{1} << 60;
  sliced = decide_in_slices(lines, options);
  EXPECT_TRUE(sliced.ok()) << sliced.error().to_string();
  EXPECT_FALSE(sliced->out_of_order);
  expect_verified(*sliced, text);
  return {sliced->outcome, true};
}

// The share of the histories that are decided.
double compare(Lines lines, double unknown, bool forgetful, uint64_t seed) {
  Rng rng(rotated(seed));
  RandomShape shape = watched_shape(0, 0.3);
  shape.unknown = unknown;
  uint64_t compared = 0, decided = 0, violated = 0, sorted = 0;
  for (uint64_t i = 0, all = histories(300); i < all && !::testing::Test::HasFailure(); ++i) {
    const Result<History> h = random_draft(rng, shape).history();
    if (!h.ok() || !can_be_watched(*h, LevelId::strict_serializable) || !one_after_the_other(*h))
      continue;
    CheckOptions checking;
    checking.levels = {LevelId::strict_serializable};
    const Outcome plain = check(*h, checking).verdicts.at(0).outcome;
    const std::vector<TxnId> order = ordered(*h, lines, rng);
    SliceOptions options;
    options.watch = watch_options(*h, as_reported(*h, rng, 3), {.forgetful = forgetful}, rng);
    options.watch.sessions = 1;
    options.watch.settle = int64_t{1} << 60;
    const std::string text = Pieces(*h, order).text();
    const Decision now = decide(text, options, rng);
    EXPECT_TRUE(now.outcome == Outcome::unknown || now.outcome == plain)
        << "case " << i << (now.sorted ? ", sorted\n" : "\n") << text << "in memory "
        << outcome_name(plain);
    ++compared;
    violated += plain == Outcome::violated;
    decided += now.outcome != Outcome::unknown;
    sorted += now.sorted;
  }
  const double share =
      static_cast<double>(decided) / static_cast<double>(std::max<uint64_t>(1, compared));
  std::cout << compared << " histories, " << violated << " violated, " << sorted
            << " sorted, decided " << 100 * share << " %\n";
  EXPECT_GT(violated, compared / 20);
  const uint64_t least = lines == Lines::shuffled ? compared / 20 : 0;
  EXPECT_GE(sorted, least);
  return share;
}

TEST(Slices, DecideAsInMemory) { EXPECT_GE(compare(Lines::as_reported, 0, false, 51), 0.99); }
TEST(Slices, DecideLinesOfOneSessionAfterTheOther) {
  EXPECT_GE(compare(Lines::by_session, 0, false, 52), 0.99);
}
TEST(Slices, DecideLinesInAnyOrder) {
  EXPECT_GE(compare(Lines::shuffled, 0, false, 53), 0.99);
  compare(Lines::shuffled, 0, true, 54);
}
TEST(Slices, DecideUnknownOutcomesInAnyOrder) {
  compare(Lines::as_reported, 0.3, false, 55);
  compare(Lines::shuffled, 0.3, false, 56);
  compare(Lines::shuffled, 0.3, true, 57);
  compare(Lines::by_session, 0.3, true, 58);
}

// One after the other on one key out of 50, by the order of their begins; each runs beside the
// next. One in 50 is of unknown outcome, the last of its session, and every other one of these took
// effect.
std::string with_sessions_that_end_unknown(int64_t txns) {
  std::vector<int64_t> state(50, 0);
  std::string text;
  for (int64_t i = 1; i <= txns; ++i) {
    int64_t& value = state[static_cast<size_t>(i * 7 % 50)];
    const bool unknown = i % 50 == 17 && i < txns;
    text += fmt::format(
        R"({{"session":"{}","status":"{}","begin":{},"end":{},"ops":[["r",{},{}],["w",{},{}]]}})"
        "\n",
        unknown ? 1000 + i : i % 4, unknown ? "unknown" : "committed", 10 * i, 10 * i + 15,
        i * 7 % 50, value == 0 ? "null" : std::to_string(value), i * 7 % 50, i);
    if (!unknown || i % 100 == 17) value = i;
  }
  return text;
}

TEST(Slices, KeepNoMoreWhereSessionsEndUnknown) {
  const std::string text = with_sessions_that_end_unknown(8000);
  Result<formats::Input> input = formats::Input::memory(text, "test", nullptr);
  SliceOptions options;
  options.watch.by_begin = true;
  options.watch.window = 128;
  options.watch.keep = 512;
  options.watch.lateness = options.watch.settle = int64_t{1} << 60;
  uint64_t buffered = 0;
  options.progress = [&](const Progress& p) { buffered = std::max(buffered, p.buffered); };
  const Result<Sliced> sliced = decide_in_slices(*input, options);
  ASSERT_TRUE(sliced.ok()) << sliced.error().to_string();
  EXPECT_EQ(sliced->outcome, Outcome::satisfied) << sliced->why.detail;
  EXPECT_LE(buffered, 2 * options.watch.window);
}

}  // namespace
}  // namespace assay::internal::watch
