#include "levels/tally_rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/rng.h"

namespace assay::internal {
namespace {

using Workload = Tally::Workload;
using enum LevelId;

TallyTxn txn(int64_t session, int64_t begin, int64_t end) {
  TallyTxn t;
  t.session = session;
  t.begin = Interval::point(begin);
  t.end = Interval::point(end);
  return t;
}
TallyTxn add(int64_t session, int64_t begin, int64_t end, int64_t amount) {
  TallyTxn t = txn(session, begin, end);
  t.adds = {{0, amount}};
  return t;
}
TallyTxn read(int64_t session, int64_t begin, int64_t end, int64_t amount) {
  TallyTxn t = txn(session, begin, end);
  t.reads = {{0, amount}};
  return t;
}
Tally counter(std::vector<TallyTxn> txns) {
  return {Workload::counter, {"counter"}, std::move(txns)};
}

using Levels = std::vector<LevelId>;

TEST(TallyRules, BoundsByWhatIsCertain) {
  // One add ended before the read, one runs beside it, one comes after.
  const auto three = [](int64_t shown) {
    return judge(
        counter({add(1, 0, 1, 10), add(2, 2, 9, 5), read(3, 3, 4, shown), add(1, 6, 7, 100)}));
  };
  for (int64_t shown : {10, 15}) EXPECT_EQ(three(shown).outcome(), Outcome::satisfied) << shown;
  for (int64_t shown : {0, 5, 16, 115}) {
    EXPECT_EQ(three(shown).outcome(), Outcome::violated) << shown;
    EXPECT_EQ(three(shown).refuted, (Levels{strong_si, strict_serializable})) << shown;
  }
  EXPECT_EQ(three(116).refuted, (Levels{adya_si, serializable}));
  EXPECT_EQ(three(-1).refuted, (Levels{adya_si, serializable}));
  EXPECT_NE(three(116).why.find("from 0 to 115"), std::string::npos) << three(116).why;
}

TEST(TallyRules, BoundsByPlaceInTheSession) {
  const auto own = [](int64_t shown) {
    return judge(
        counter({add(1, 0, 0, 10), add(2, 0, 9, 5), read(1, 0, 0, shown), add(1, 9, 9, 1)}));
  };
  EXPECT_EQ(own(10).outcome(), Outcome::satisfied);
  EXPECT_EQ(own(9).refuted, (Levels{session_si, session_serializable}));
  EXPECT_EQ(own(16).refuted, (Levels{session_si, session_serializable}));
}

TEST(TallyRules, OutcomesThatAreUnknownMayCount) {
  Tally t = counter({add(1, 0, 1, 10), add(2, 0, 1, -5), read(3, 3, 4, 0)});
  t.txns[0].status = TxnStatus::unknown;
  t.txns[0].end = {};
  for (int64_t shown : {-5, 5}) {
    t.txns[2].reads[0].second = shown;
    EXPECT_EQ(judge(t).outcome(), Outcome::satisfied) << shown;
  }
  t.txns[0].status = TxnStatus::aborted;
  EXPECT_EQ(judge(t).outcome(), Outcome::violated);
  EXPECT_EQ(judge(counter({add(1, 0, 1, 10)})).outcome(), Outcome::unknown);
}

TEST(TallyRules, TotalsOfWholeReads) {
  Tally bank{Workload::bank, {"a", "b"}, {}};
  const auto whole = [](int64_t a, int64_t b) {
    TallyTxn t;
    t.reads = {{0, a}, {1, b}};
    t.line = static_cast<uint64_t>(a);
    return t;
  };
  TallyTxn half;
  half.reads = {{0, 7}};
  bank.txns = {whole(10, 90), half, whole(60, 40)};
  EXPECT_EQ(judge(bank).outcome(), Outcome::satisfied);
  EXPECT_EQ(judge(bank).not_judged, 1u);
  bank.txns.push_back(whole(5, 90));
  bank.txns.push_back(whole(6, 90));
  const TallyVerdict v = judge(bank);
  EXPECT_EQ(v.outcome(), Outcome::violated);
  EXPECT_EQ(v.wrong, 2u);
  EXPECT_EQ(v.lines, (std::vector<uint64_t>{10, 5}));
  EXPECT_EQ(v.refuted, (Levels{adya_si, serializable}));
}

// By brute force: whether some order of all that took effect shows what was read.
class Orders {
 public:
  Orders(const Tally& tally, bool session, bool time) : t_(tally), session_(session), time_(time) {}

  bool some_explains() const {
    std::vector<size_t> unknown, kept;
    for (size_t i = 0; i < t_.txns.size(); ++i) {
      if (t_.txns[i].status == TxnStatus::committed) kept.push_back(i);
      if (t_.txns[i].status == TxnStatus::unknown) unknown.push_back(i);
    }
    for (size_t chosen = 0; chosen < size_t{1} << unknown.size(); ++chosen) {
      std::vector<size_t> order = kept;
      for (size_t u = 0; u < unknown.size(); ++u)
        if (chosen >> u & 1) order.push_back(unknown[u]);
      std::sort(order.begin(), order.end());
      do {
        if (respects(order) && explains(order)) return true;
      } while (std::next_permutation(order.begin(), order.end()));
    }
    return false;
  }

 private:
  bool before(const TallyTxn& a, size_t i, const TallyTxn& b, size_t j) const {
    if (a.status != TxnStatus::committed) return false;
    if (session_ && a.session == b.session && i < j) return true;
    return time_ && a.end.response < b.begin.request;
  }
  bool respects(const std::vector<size_t>& order) const {
    for (size_t i = 0; i < order.size(); ++i)
      for (size_t j = i + 1; j < order.size(); ++j)
        if (before(t_.txns[order[j]], order[j], t_.txns[order[i]], order[i])) return false;
    return true;
  }
  bool explains(const std::vector<size_t>& order) const {
    std::vector<int64_t> held(t_.accounts.size(), 0);
    for (size_t i : order) {
      const TallyTxn& t = t_.txns[i];
      if (t.status == TxnStatus::committed)
        for (const auto& [account, amount] : t.reads)
          if (held[account] != amount) return false;
      for (const auto& [account, amount] : t.adds) held[account] += amount;
    }
    return true;
  }

  const Tally& t_;
  bool session_, time_;
};

bool refutes(const TallyVerdict& v, LevelId level) {
  return std::any_of(v.refuted.begin(), v.refuted.end(),
                     [&](LevelId r) { return implies(level, r); });
}

TEST(TallyRules, BruteForceAgrees) {
  Rng rng(5);
  int violated = 0;
  for (int i = 0; i < 3000; ++i) {
    const bool one_read = i % 2 == 0;
    Tally tally = counter({});
    int reads = 0;
    std::vector<int64_t> clock(3, 0);
    for (uint64_t n = 2 + rng.below(4); n > 0; --n) {
      const auto session = static_cast<int64_t>(rng.below(3));
      const int64_t begin = clock[session] + 1 + static_cast<int64_t>(rng.below(4));
      const int64_t end = begin + static_cast<int64_t>(rng.below(5));
      clock[session] = end;
      const bool reading = rng.below(3) == 0 && !(one_read && reads > 0);
      reads += reading;
      const int64_t amount = one_read ? 1 : static_cast<int64_t>(rng.below(5)) - 2;
      tally.txns.push_back(reading
                               ? read(session, begin, end, static_cast<int64_t>(rng.below(5)) - 1)
                               : add(session, begin, end, amount));
      const uint64_t fate = rng.below(6);
      if (!reading && fate == 0) tally.txns.back().status = TxnStatus::aborted;
      if (!reading && fate == 1) {
        tally.txns.back().status = TxnStatus::unknown;
        tally.txns.back().end = {};
      }
    }
    const TallyVerdict v = judge(tally);
    violated += v.outcome() == Outcome::violated;
    const struct {
      LevelId level;
      bool session, time;
    } levels[] = {{serializable, false, false},
                  {session_serializable, true, false},
                  {strict_serializable, true, true}};
    for (const auto& [level, session, time] : levels) {
      const bool possible = Orders(tally, session, time).some_explains();
      if (refutes(v, level)) {
        EXPECT_FALSE(possible) << i << ' ' << v.why;
      } else if (one_read) {
        // With one read and additions of 1 the rule is all there is to decide.
        EXPECT_TRUE(possible) << i << ' ' << level_info(level).name;
      }
    }
  }
  EXPECT_GT(violated, 300);
}

}  // namespace
}  // namespace assay::internal
