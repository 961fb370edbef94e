// Watching by fences never comes to another verdict than checking the whole without them
// (watch/fenced_watcher.h).
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
#include "oracle/random_draft.h"
#include "watch/fenced_watcher.h"
#include "watched_lines.h"
#include "watched_verdicts.h"

namespace assay::internal::watch {
namespace {

constexpr int kFence = 7;
constexpr LevelId kLevel = LevelId::session_serializable;

struct FenceCase {
  bool repeated = false;  // values
  bool broken =
      false;  // some fences read the wrong value, or have no known outcome, or are not reported
  bool forgetful = false;  // little is kept
};

Outcome plain_outcome(const History& h) {
  CheckOptions checking;
  checking.levels = {kLevel};
  return check(h, checking).verdicts.at(0).outcome;
}

// The transactions in an order that explains them, if there is one; the others where their session
// did them.
std::vector<DraftTxn> in_order(const Draft& draft, const History& h) {
  CheckOptions checking;
  checking.levels = {kLevel};
  const CheckResult result = check(h, checking);
  if (result.verdicts.at(0).outcome != Outcome::satisfied) return draft.txns;
  std::vector<bool> placed(draft.txns.size());
  std::vector<DraftTxn> all;
  const auto place_before = [&](size_t end, int session) {
    for (size_t t = 0; t < end; ++t)
      if (!placed[t] && draft.txns[t].session == session) {
        placed[t] = true;
        all.push_back(draft.txns[t]);
      }
  };
  for (const TxnId t : result.certificates[result.verdicts[0].certificate].order.events)
    place_before(t + 1, draft.txns[t].session);
  for (const DraftTxn& t : draft.txns) place_before(draft.txns.size(), t.session);
  return all;
}

// With fences in between, each of which reads what the one before it wrote.
Draft with_fences(const Draft& draft, std::vector<DraftTxn> txns, const FenceCase& c, Rng& rng) {
  Draft fenced;
  fenced.initial = draft.initial;
  DraftValue last = draft.initial;
  int64_t next = 1'000;
  int sessions = 1;
  for (const DraftTxn& t : txns) sessions = std::max(sessions, t.session + 1);
  const auto fence = [&] {
    DraftTxn f;
    f.session = static_cast<int>(rng.below(static_cast<uint64_t>(sessions)));
    DraftValue read = last;
    const DraftValue written = next++;
    const uint64_t what = c.broken ? rng.below(12) : 12;
    if (what == 0)
      read = 1'000 + static_cast<int64_t>(rng.below(static_cast<uint64_t>(next - 1'000)));
    if (what == 1 || what == 2) f.status = TxnStatus::unknown;
    f.ops = {{.kind = OpKind::read, .key = kFence, .value = read},
             {.kind = OpKind::write, .key = kFence, .value = written}};
    if (what != 2) last = written;
    if (what != 3) fenced.txns.push_back(f);
  };
  for (DraftTxn& t : txns) {
    while (rng.below(3) == 0) fence();
    fenced.txns.push_back(std::move(t));
  }
  for (int i = 0; i < sessions; ++i) fence();
  // Times say nothing at this level, and fences need none.
  for (DraftTxn& t : fenced.txns) t.begin = t.end = {};
  return fenced;
}

bool is_of_registers(const History& h) {
  for (OpId i = 0; i < h.op_count(); ++i)
    if (is_range(h.op(i)) || is_list_operation(h.op(i))) return false;
  return true;
}

// The lines of all sessions, in any order but for that of each.
std::vector<TxnId> shuffled(const History& h, Rng& rng) {
  std::vector<TxnId> order;
  std::vector<size_t> done(h.session_count());
  while (order.size() < h.txn_count()) {
    const auto s = static_cast<SessionId>(rng.below(h.session_count()));
    for (uint64_t some = 1 + rng.below(3); some > 0 && done[s] < h.session_txns(s).size(); --some)
      order.push_back(h.session_txns(s)[done[s]++]);
  }
  return order;
}

WatchVerdicts watched(const History& h, const FenceCase& c, Rng& rng) {
  const std::vector<TxnId> order = shuffled(h, rng);
  WatchOptions options;
  options.level = kLevel;
  options.fence = "k7";
  options.sessions = h.session_count();
  options.settle = c.repeated || rng.below(2) == 0 ? int64_t{1} << 60 : 3'000'000;
  options.window = 1 + rng.below(4);
  options.keep = c.forgetful ? rng.below(4) : 4096;
  WatchVerdicts verdicts;
  FencedWatcher watcher(options, verdicts);
  Pieces pieces(h, order);
  watch_all(watcher, pieces, rng);
  Pieces again(h, order);
  expect_verified(verdicts, kLevel, again, rng);
  if (::testing::Test::HasFailure()) std::cout << again.text();
  return verdicts;
}

// The share of the histories that are decided.
double compare_fenced(const FenceCase& c, uint64_t seed) {
  Rng rng(rotated(seed));
  RandomShape shape = watched_shape(c.repeated ? 0.5 : 0, 0.3);
  shape.timed = 0;
  WatchShares shares;
  for (uint64_t i = 0, all = histories(400); i < all; ++i) {
    const Draft draft = random_draft(rng, shape);
    const Result<History> bare = draft.history();
    if (!bare.ok() || !is_of_registers(*bare)) continue;
    const Draft fenced = with_fences(draft, in_order(draft, *bare), c, rng);
    const Result<History> whole = fenced.history();
    if (!whole.ok()) continue;
    const Outcome plain = plain_outcome(*whole);
    if (plain == Outcome::unknown) continue;
    const WatchVerdicts found = watched(*whole, c, rng);
    EXPECT_FALSE(found.alarms > 0 && plain == Outcome::satisfied)
        << "a sound history raised an alarm, case " << i << " of seed " << seed << "\n"
        << fenced.text() << "by\n"
        << found.last;
    EXPECT_FALSE(found.alarms == 0 && found.unknown == 0 && plain == Outcome::violated)
        << "a violation was missed, case " << i << " of seed " << seed << "\n"
        << fenced.text();
    shares.add(plain, found);
    if (::testing::Test::HasFailure()) break;
  }
  return shares.tell();
}

TEST(FenceWatch, AgreesWithTheCheckOfTheWhole) { EXPECT_GE(compare_fenced({}, 21), 0.99); }
TEST(FenceWatch, AgreesWhereLittleIsKept) { compare_fenced({.forgetful = true}, 22); }
TEST(FenceWatch, AgreesWhereFencesAreBroken) {
  compare_fenced({.broken = true}, 23);
  compare_fenced({.broken = true, .forgetful = true}, 24);
}
TEST(FenceWatch, AgreesWhereValuesRepeat) {
  compare_fenced({.repeated = true}, 25);
  compare_fenced({.repeated = true, .broken = true, .forgetful = true}, 26);
}

}  // namespace
}  // namespace assay::internal::watch
