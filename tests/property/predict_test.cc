// A set of transactions can run wrongly at some isolations exactly if one of them can be cut in two (predict/split.h): compared with all
// orders of steps that the isolations allow, executed here by the definitions and by nothing that the product uses. What is found is a
// schedule that the verifier accepts; and of schedules drawn at random it accepts those that are allowed and not serializable.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/rng.h"
#include "cases.h"
#include "certify/schedule_verifier.h"
#include "predict/gaps.h"
#include "predict/split.h"

namespace assay::internal {
namespace {

using certify::Isolation;
using certify::Schedule;

// Keys are bits.
struct SetStep {
  uint32_t reads = 0, changes = 0;
  bool plain = true;  // its statement locks nothing
};
struct SetTxn {
  std::vector<SetStep> statements;
  std::vector<SetStep>
      steps;  // of others' keys; what a statement reads without locking comes first
  Isolation isolation = Isolation::read_committed;
};

SetTxn random_txn(Rng& rng, uint32_t keys, size_t most) {
  SetTxn txn;
  uint32_t written = 0;
  for (size_t i = 1 + rng.below(most); i > 0; --i) {
    SetStep s;
    for (uint32_t k = 0; k < keys; ++k) {
      const uint64_t drawn = rng.below(6);
      if (drawn == 0 || drawn == 2) s.reads |= 1u << k;
      if (drawn == 1 || drawn == 2) s.changes |= 1u << k;
    }
    if (s.reads == 0 && s.changes == 0) s.reads = 1;
    s.plain = s.changes == 0;
    txn.statements.push_back(s);
    const uint32_t unlocked = s.reads & ~s.changes;
    if (!s.plain && unlocked != 0) txn.steps.push_back({unlocked & ~written, 0, false});
    txn.steps.push_back(s.plain ? s : SetStep{s.reads & s.changes, s.changes, false});
    txn.steps.back().reads &= ~written;
    written |= s.changes;
  }
  return txn;
}

// They ran one after the other.
History history_of(const std::vector<SetTxn>& set) {
  HistoryBuilder b;
  std::vector<int64_t> held(32, 0);
  int64_t next = 0, sent = 0;
  b.set_initial(ValueView::of(int64_t{0}));
  for (size_t t = 0; t < set.size(); ++t) {
    b.begin_txn({.session = ValueView::of(static_cast<int64_t>(t))});
    for (const SetStep& s : set[t].statements) {
      ++sent;
      const auto add = [&](Op op) {
        op.time = {sent, sent};
        EXPECT_TRUE(b.add(op));
      };
      for (uint32_t k = 0; k < 32; ++k)
        if (s.reads >> k & 1) add(Op::read(ValueView::of(int64_t{k}), ValueView::of(held[k])));
      for (uint32_t k = 0; k < 32; ++k)
        if (s.changes >> k & 1)
          add(Op::write(ValueView::of(int64_t{k}), ValueView::of(held[k] = ++next)));
    }
    EXPECT_TRUE(b.end_txn().ok());
  }
  auto history = std::move(b).finish();
  EXPECT_TRUE(history.ok());
  return std::move(*history);
}

// By the definitions: an execution, one event after the other.
class ByDefinition {
 public:
  explicit ByDefinition(const std::vector<SetTxn>& set) : set_(set), state_(set.size()) {}

  // Whether some order that the isolations allow is not serializable.
  bool can_go_wrong() {
    bool moved = false;
    for (size_t t = 0; t < set_.size(); ++t) {
      if (state_[t].committed >= 0) continue;
      const ByDefinition before = *this;
      if (advance(t)) {
        moved = true;
        if (can_go_wrong()) return true;
      }
      restore(before);
    }
    if (moved || !all_committed()) return false;
    return !is_refused() && !is_serializable();
  }

  // The next step of the transaction, or its commit. False if it has to wait, or is refused.
  bool advance(size_t t) {
    State& s = state_[t];
    const SetTxn& txn = set_[t];
    if (s.committed >= 0) return false;
    const int now = now_++;
    if (s.first < 0) s.first = now;
    if (s.next == txn.steps.size()) {
      s.committed = now;
      for (uint32_t k = 0; k < 32; ++k)
        if (s.written >> k & 1) versions_[k].push_back({t, now});
      return true;
    }
    const SetStep& step = txn.steps[s.next++];
    const bool keeps = txn.isolation == Isolation::snapshot || txn.isolation == Isolation::ssi;
    for (uint32_t k = 0; k < 32; ++k) {
      if (!(step.changes >> k & 1)) continue;
      for (size_t other = 0; other < set_.size(); ++other)
        if (other != t && state_[other].committed < 0 && (state_[other].written >> k & 1))
          return false;
      if (keeps && !versions_[k].empty() && versions_[k].back().at > s.first) return false;
    }
    const bool shares = txn.isolation == Isolation::innodb_repeatable_read && !step.plain;
    for (size_t other = 0; other < set_.size(); ++other) {
      if (other == t || state_[other].committed >= 0) continue;
      if ((step.changes & state_[other].shared) != 0) return false;
      if (shares && (step.reads & state_[other].written) != 0) return false;
    }
    if (shares) s.shared |= step.reads;
    if (step.plain && s.plain < 0) s.plain = now;
    const bool moving = txn.isolation == Isolation::read_committed ||
                        (txn.isolation == Isolation::innodb_repeatable_read && !step.plain);
    const int moment = moving                                               ? now
                       : txn.isolation == Isolation::innodb_repeatable_read ? s.plain
                                                                            : s.first;
    for (uint32_t k = 0; k < 32; ++k) {
      if (!(step.reads >> k & 1)) continue;
      size_t behind = 0;
      while (behind < versions_[k].size() && versions_[k][behind].at < moment) ++behind;
      reads_.push_back({t, k, behind});
    }
    s.written |= step.changes;
    return true;
  }

  bool all_committed() const {
    return std::ranges::all_of(state_, [](const State& s) { return s.committed >= 0; });
  }

  // By a dangerous structure among those at ssi.
  bool is_refused() const {
    const auto reads_past = [&](size_t a, size_t b) {
      return std::ranges::any_of(reads_, [&](const Read& r) {
        if (r.txn != a) return false;
        for (size_t i = r.behind; i < versions_[r.key].size(); ++i)
          if (versions_[r.key][i].txn == b) return true;
        return false;
      });
    };
    const auto overlap = [&](size_t a, size_t b) {
      return state_[a].first < state_[b].committed && state_[b].first < state_[a].committed;
    };
    const size_t n = set_.size();
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < n; ++j)
        for (size_t k = 0; k < n; ++k) {
          if (i == j || j == k) continue;
          if (set_[i].isolation != Isolation::ssi || set_[j].isolation != Isolation::ssi ||
              set_[k].isolation != Isolation::ssi)
            continue;
          if (!reads_past(i, j) || !reads_past(j, k) || !overlap(i, j) || !overlap(j, k)) continue;
          if (state_[k].committed > state_[i].committed ||
              state_[k].committed >= state_[j].committed)
            continue;
          if (state_[i].written == 0 && state_[k].committed > state_[i].first) continue;
          return true;
        }
    return false;
  }

  // Which transactions each comes before.
  std::vector<uint32_t> precedes() const {
    std::vector<uint32_t> to(set_.size(), 0);
    const auto add = [&](size_t a, size_t b) {
      if (a != b) to[a] |= 1u << b;
    };
    for (const auto& versions : versions_)
      for (size_t i = 0; i < versions.size(); ++i)
        for (size_t j = i + 1; j < versions.size(); ++j) add(versions[i].txn, versions[j].txn);
    for (const Read& r : reads_)
      for (size_t i = 0; i < versions_[r.key].size(); ++i)
        i < r.behind ? add(versions_[r.key][i].txn, r.txn) : add(r.txn, versions_[r.key][i].txn);
    return to;
  }

  bool is_serializable() const {
    const std::vector<uint32_t> to = precedes();
    uint32_t left = (1u << set_.size()) - 1;
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t t = 0; t < set_.size(); ++t)
        if ((left >> t & 1) && (to[t] & left) == 0) {
          left &= ~(1u << t);
          moved = true;
        }
    }
    return left == 0;
  }

 private:
  struct State {
    size_t next = 0;
    int first = -1, plain = -1, committed = -1;
    uint32_t written = 0, shared = 0;  // keys, locked until it ends
  };
  struct Version {
    size_t txn;
    int at;
  };
  struct Read {
    size_t txn;
    uint32_t key;
    size_t behind;
  };

  void restore(const ByDefinition& before) {
    state_ = before.state_;
    versions_ = before.versions_;
    reads_ = before.reads_;
    now_ = before.now_;
  }

  const std::vector<SetTxn>& set_;
  std::vector<State> state_;
  std::vector<std::vector<Version>> versions_ = std::vector<std::vector<Version>>(32);
  std::vector<Read> reads_;
  int now_ = 0;
};

std::string text_of(const Schedule& schedule) {
  std::string text;
  for (const Schedule::Event& e : schedule.events)
    text += (e.what == Schedule::What::step ? " step " : " commit ") + std::to_string(e.member);
  text += "; cycle";
  for (const uint32_t member : schedule.cycle) text += " " + std::to_string(member);
  return text + "\n";
}

std::string text_of(const std::vector<SetTxn>& set) {
  std::string text;
  for (const SetTxn& txn : set) {
    text += std::string(certify::isolation_name(txn.isolation)) + ":";
    for (const SetStep& s : txn.statements)
      text += " (" + std::to_string(s.reads) + "," + std::to_string(s.changes) + ")";
    text += "\n";
  }
  return text;
}

// Few enough orders to try all.
bool is_small(const std::vector<SetTxn>& set) {
  double orders = 1, events = 0;
  for (const SetTxn& txn : set)
    for (size_t i = 1; i <= txn.steps.size() + 1; ++i)
      orders = orders * ++events / static_cast<double>(i);
  return orders < 3000;
}

std::vector<SetTxn> random_set(Rng& rng, std::initializer_list<Isolation> isolations) {
  for (;;) {
    const uint32_t keys = 2 + static_cast<uint32_t>(rng.below(3));
    std::vector<SetTxn> set;
    for (size_t n = 2 + rng.below(2), t = 0; t < n; ++t) {
      set.push_back(random_txn(rng, keys, n == 2 ? 3 : 2));
      set.back().isolation = isolations.begin()[rng.below(isolations.size())];
    }
    if (is_small(set)) return set;
  }
}

void compare(uint64_t seed, std::initializer_list<Isolation> isolations) {
  Rng rng(rotated(seed));
  size_t wrong = 0;
  const size_t sets = scaled(2000);
  for (size_t i = 0; i < sets; ++i) {
    const std::vector<SetTxn> set = random_set(rng, isolations);
    const History history = history_of(set);
    std::vector<Isolation> at;
    for (const SetTxn& txn : set) at.push_back(txn.isolation);
    Budget budget;
    const auto steps =
        predict::Steps::of(history, std::vector<bool>(set.size(), true), predict::Gaps(), budget);
    ASSERT_TRUE(steps.ok());
    predict::Splits splits(*steps, at);
    bool found = false;
    for (TxnId t = 0; t < set.size(); ++t) {
      ASSERT_EQ(certify::steps_of(history, t).size(), set[t].steps.size()) << text_of(set);
      const auto split = splits.find(t, budget, {});
      if (!split) continue;
      found = true;
      const Status s = certify::verify_schedule(predict::schedule_of(*split, *steps, at), history);
      ASSERT_TRUE(s.ok()) << text_of(set) << s.error().message;
    }
    ASSERT_EQ(found, ByDefinition(set).can_go_wrong()) << text_of(set);
    wrong += found;
  }
  // Neither all nor none.
  EXPECT_GT(wrong, sets / 50);
  EXPECT_LT(wrong, sets - sets / 50);
}

TEST(Predict, AtReadCommitted) { compare(1, {Isolation::read_committed}); }
TEST(Predict, AtSnapshotIsolation) { compare(2, {Isolation::snapshot}); }
TEST(Predict, AtPrefix) { compare(3, {Isolation::prefix}); }
TEST(Predict, AtInnodbsRepeatableRead) { compare(4, {Isolation::innodb_repeatable_read}); }
TEST(Predict, AtThreeOfPostgresql) {
  compare(5, {Isolation::read_committed, Isolation::snapshot, Isolation::ssi});
}
TEST(Predict, AtAnyMix) {
  compare(6, {Isolation::read_committed, Isolation::innodb_repeatable_read, Isolation::prefix,
              Isolation::snapshot, Isolation::ssi});
}

TEST(Predict, AtSsiNothingGoesWrong) {
  Rng rng(rotated(7));
  for (size_t i = 0; i < scaled(500); ++i)
    EXPECT_FALSE(ByDefinition(random_set(rng, {Isolation::ssi})).can_go_wrong());
}

// Some of what they did is not in the history, which says of which keys: nothing that goes wrong is overlooked.
TEST(Predict, WhatWasNotRecorded) {
  Rng rng(rotated(9));
  size_t held = 0, wrong = 0;
  for (size_t i = 0; i < scaled(4000); ++i) {
    const std::vector<SetTxn> set =
        random_set(rng, {Isolation::read_committed, Isolation::innodb_repeatable_read,
                         Isolation::prefix, Isolation::snapshot, Isolation::ssi});
    std::vector<SetTxn> recorded = set;
    std::vector<predict::Told> told(set.size());
    std::vector<Isolation> at;
    for (size_t t = 0; t < set.size(); ++t) {
      at.push_back(set[t].isolation);
      for (SetStep& s : recorded[t].statements)
        for (uint32_t k = 0; k < 32; ++k) {
          const std::string table = rng.below(8) == 0 ? "*" : std::to_string(k);
          if ((s.reads >> k & 1) && rng.below(8) == 0) {
            s.reads &= ~(1u << k);
            told[t].reads.push_back(table);
          }
          if ((s.changes >> k & 1) && rng.below(16) == 0) {
            s.changes &= ~(1u << k);
            told[t].changes.push_back(table);
          }
        }
    }
    const History history = history_of(recorded);
    Budget budget;
    const auto steps = predict::Steps::of(history, std::vector<bool>(set.size(), true),
                                          predict::Gaps(history, told), budget);
    ASSERT_TRUE(steps.ok());
    predict::Splits splits(*steps, at);
    bool found = false, whole = true;
    for (TxnId t = 0; t < set.size(); ++t) {
      found = found || splits.find(t, budget, {});
      whole = whole && told[t].is_whole();
    }
    const bool can = ByDefinition(set).can_go_wrong();
    ASSERT_TRUE(found || !can) << text_of(set) << text_of(recorded);
    held += !found && !whole;
    wrong += can && !whole;
  }
  EXPECT_GT(held, scaled(4000) / 50);
  EXPECT_GT(wrong, scaled(4000) / 50);
}

// Any order of events with any cycle.
TEST(Predict, SchedulesDrawnAtRandom) {
  Rng rng(rotated(8));
  size_t accepted = 0;
  for (size_t i = 0; i < scaled(40'000); ++i) {
    const std::vector<SetTxn> set =
        random_set(rng, {Isolation::read_committed, Isolation::innodb_repeatable_read,
                         Isolation::prefix, Isolation::snapshot, Isolation::ssi});
    const History history = history_of(set);
    Schedule schedule;
    std::vector<uint32_t> left;
    for (uint32_t t = 0; t < set.size(); ++t) {
      schedule.members.push_back({t, set[t].isolation});
      left.insert(left.end(), set[t].steps.size() + 1, t);
    }
    ByDefinition execution(set);
    bool allowed = true;
    std::vector<size_t> done(set.size(), 0);
    while (!left.empty()) {
      const size_t drawn = rng.below(left.size());
      const uint32_t t = left[drawn];
      left.erase(left.begin() + static_cast<ptrdiff_t>(drawn));
      schedule.events.push_back(
          {done[t]++ == set[t].steps.size() ? Schedule::What::commit : Schedule::What::step, t});
      allowed = allowed && execution.advance(t);
    }
    for (size_t n = 2 + rng.below(2); n > 0; --n)
      schedule.cycle.push_back(static_cast<uint32_t>(rng.below(set.size())));
    const Status s = certify::verify_schedule(schedule, history);
    if (s.ok()) {
      ++accepted;
      ASSERT_TRUE(allowed && !execution.is_refused() && !execution.is_serializable())
          << text_of(set) << text_of(schedule) << allowed << execution.is_refused();
    }
    // What the verifier looks for is the next dependency of each key, so a cycle of two may be there only as a longer one.
    if (!allowed || execution.is_refused() || execution.is_serializable()) {
      ASSERT_FALSE(s.ok()) << text_of(set) << text_of(schedule);
    }
  }
  EXPECT_GT(accepted, scaled(40'000) / 400);
}

}  // namespace
}  // namespace assay::internal
