// Watching a history in pieces never comes to another verdict than checking the whole
// (watch/watcher.h).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "assay/check.h"
#include "assay/format.h"
#include "base/rng.h"
#include "cases.h"
#include "certify/chain.h"
#include "certify/chain_verifier.h"
#include "oracle/random_draft.h"
#include "watch/watcher.h"
#include "watched_lines.h"
#include "watched_verdicts.h"

namespace assay::internal::watch {
namespace {

WatchVerdicts watched(const History& h, const WatchCase& c, Rng& rng) {
  const std::vector<TxnId> order = as_reported(h, rng, c.late ? 40 : 3);
  const WatchOptions options = watch_options(h, order, c, rng);
  WatchVerdicts count;
  Watcher watcher(options, count);
  Pieces pieces(h, order);
  watch_all(watcher, pieces, rng);
  Pieces again(h, order);
  expect_verified(count, c.level, again, rng);
  if (::testing::Test::HasFailure()) std::cout << again.text();
  return count;
}

// The share of the histories that are decided.
double compare(const WatchCase& c, const RandomShape& shape, uint64_t seed) {
  Rng rng(rotated(seed));
  WatchShares shares;
  for (uint64_t i = 0, all = histories(400); i < all; ++i) {
    const Draft draft = random_draft(rng, shape);
    const Result<History> whole = draft.history();
    if (!whole.ok() || !can_be_watched(*whole, c.level)) continue;
    CheckOptions checking;
    checking.levels = {c.level};
    const Outcome plain = check(*whole, checking).verdicts.at(0).outcome;
    if (plain == Outcome::unknown) continue;
    const WatchVerdicts count = watched(*whole, c, rng);
    // An alarm that rests on lines which come too late is told of by these.
    const bool told = c.late && count.unknown > 0;
    EXPECT_FALSE(count.alarms > 0 && plain == Outcome::satisfied && !told)
        << "a sound history raised an alarm, case " << i << " of seed " << seed << "\n"
        << draft.text() << "by\n"
        << count.last;
    EXPECT_FALSE(count.alarms == 0 && count.unknown == 0 && plain == Outcome::violated)
        << "a violation was missed, case " << i << " of seed " << seed << "\n"
        << draft.text();
    shares.add(plain, count);
    if (::testing::Test::HasFailure()) break;
  }
  return shares.tell();
}

TEST(WatchAgreement, AgreesWithTheCheckOfTheWhole) {
  EXPECT_GE(compare({}, watched_shape(0, 0.3), 11), 0.99);
}
TEST(WatchAgreement, AgreesWhereLinesAreLate) {
  compare({.late = true}, watched_shape(0, 0.3), 12);
}
TEST(WatchAgreement, AgreesWhereLittleIsKept) {
  compare({.forgetful = true}, watched_shape(0, 0.3), 13);
}
TEST(WatchAgreement, AgreesWhereValuesRepeat) {
  compare({.repeated = true}, watched_shape(1, 0.3), 14);
  compare({.repeated = true, .forgetful = true}, watched_shape(1, 0.3), 15);
}
TEST(WatchAgreement, AgreesWhereEverythingComesTogether) {
  compare({.repeated = true, .late = true, .forgetful = true}, watched_shape(0.5, 0.3), 16);
}
// The lines, and behind some of those of unknown outcome, perhaps far behind, an event that says
// that it did not commit.
std::string with_outcomes(const std::string& text, const History& h, Rng& rng) {
  std::vector<std::string> lines;
  for (size_t from = 0, end; (end = text.find('\n', from)) != text.npos; from = end + 1)
    lines.push_back(text.substr(from, end + 1 - from));
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    if (h.status(t) != TxnStatus::unknown || rng.below(2) == 0) continue;
    const std::string name = "\"" + h.name(t) + "\"";
    const auto at = std::ranges::find_if(
        lines, [&](const std::string& line) { return line.find("\"txn\":" + name) != line.npos; });
    if (at == lines.end()) continue;
    const auto left = static_cast<uint64_t>(lines.end() - at);
    lines.insert(at + 1 + static_cast<std::ptrdiff_t>(rng.below(left)),
                 R"({"event":"settled","aborted":[)" + name + "]}\n");
  }
  std::string all;
  for (const std::string& line : lines) all += line;
  return all;
}

TEST(WatchAgreement, AgreesWhereOutcomesAreSettledLater) {
  Rng rng(rotated(19));
  WatchShares shares;
  for (uint64_t i = 0, all = histories(400); i < all && !::testing::Test::HasFailure(); ++i) {
    const Draft draft = random_draft(rng, watched_shape(0, 0.3));
    const Result<History> h = draft.history();
    const WatchCase c{.forgetful = i % 3 == 0};
    if (!h.ok() || !can_be_watched(*h, c.level)) continue;
    const std::vector<TxnId> order = as_reported(*h, rng, 3);
    const WatchOptions options = watch_options(*h, order, c, rng);
    const std::string text = with_outcomes(Pieces(*h, order).text(), *h, rng);
    const Result<ReadResult> whole = read_history_text(text, "test", {.from = "assay"});
    if (!whole.ok()) continue;  // a name that two have
    CheckOptions checking;
    checking.levels = {c.level};
    const Outcome plain = check(whole->history, checking).verdicts.at(0).outcome;
    WatchVerdicts count;
    Watcher watcher(options, count);
    Pieces pieces(text);
    while (const auto piece = pieces.next(1 + rng.below(3))) {
      ASSERT_TRUE(watcher.add(piece).ok());
      if (rng.below(3) == 0) {
        ASSERT_TRUE(watcher.decide_sealed().ok());
      }
    }
    ASSERT_TRUE(watcher.finish().ok());
    Pieces again(text);
    expect_verified(count, c.level, again, rng);
    EXPECT_FALSE(count.alarms > 0 && plain == Outcome::satisfied) << "a false alarm";
    EXPECT_FALSE(count.alarms == 0 && count.unknown == 0 && plain == Outcome::violated &&
                 !c.forgetful)
        << "a violation was missed";
    if (::testing::Test::HasFailure()) std::cout << "case " << i << "\n" << text;
    shares.add(plain, count);
  }
  shares.tell();
}

TEST(WatchAgreement, AgreesOnSingleOperations) {
  RandomShape s = watched_shape(0.2, 0.3);
  s.single_op = 1;
  EXPECT_GE(compare({.level = LevelId::linearizable, .repeated = true}, s, 17), 0.99);
  compare({.level = LevelId::linearizable, .repeated = true, .forgetful = true}, s, 18);
}

}  // namespace
}  // namespace assay::internal::watch
