// A set of transactions can run wrongly at some isolations exactly if one of them can be cut in two
// (predict/split.h): compared with all orders of steps that the isolations allow, executed here by
// the definitions and by nothing that the product uses. What is found is a schedule that the
// verifier accepts; and of schedules drawn at random it accepts those that are allowed and not
// serializable. Where nothing is found the verifier accepts why; and whatever is said of a
// transaction that can be cut, it refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/rng.h"
#include "cases.h"
#include "certify/robustness_verifier.h"
#include "certify/schedule_verifier.h"
#include "oracle/random_draft.h"
#include "predict/gaps.h"
#include "predict/prediction.h"
#include "predict/split.h"

namespace assay::internal {
namespace {

using certify::Because;
using certify::Ends;
using certify::Isolation;
using certify::Robustness;
using certify::RobustnessVerifier;
using certify::RowLock;
using certify::Schedule;
using certify::Uncut;

// Keys are bits.
struct SetStep {
  uint32_t reads = 0, changes = 0;
  bool plain = true;  // its statement locks nothing
  RowLock lock = RowLock::none;
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
    // SELECT … FOR UPDATE, or FOR SHARE.
    if (const uint64_t drawn = rng.below(8); s.plain && drawn < 2) {
      s.lock = drawn == 0 ? RowLock::update : RowLock::share;
      s.plain = false;
    }
    txn.statements.push_back(s);
    const uint32_t unlocked = s.reads & ~s.changes;
    if (s.changes != 0 && unlocked != 0) txn.steps.push_back({unlocked & ~written, 0, false});
    txn.steps.push_back(s.changes == 0 ? s : SetStep{s.reads & s.changes, s.changes, false});
    txn.steps.back().reads &= ~written;
    written |= s.changes;
  }
  return txn;
}

// They ran one after the other, each its own program. `unrecorded`: per transaction, if not empty,
// what its meta says of that.
History history_of(const std::vector<SetTxn>& set,
                   const std::vector<std::string>& unrecorded = {}) {
  HistoryBuilder b;
  std::vector<int64_t> held(32, 0);
  int64_t next = 0, sent = 0;
  b.set_initial(ValueView::of(int64_t{0}));
  for (size_t t = 0; t < set.size(); ++t) {
    std::string meta = "{\"program\":\"" + std::to_string(t) + "\"";
    if (!unrecorded.empty()) meta += ",\"unrecorded\":" + unrecorded[t];
    Json sql = Json::array();
    for (size_t i = 0; i < set[t].statements.size(); ++i) {
      const RowLock lock = set[t].statements[i].lock;
      Json one = {{"text", "SELECT"}, {"sent", sent + static_cast<int64_t>(i) + 1}};
      if (lock != RowLock::none) one["locks"] = lock == RowLock::update ? "update" : "share";
      sql.push_back(std::move(one));
    }
    meta += ",\"sql\":" + sql.dump() + "}";
    b.begin_txn({.session = ValueView::of(static_cast<int64_t>(t)), .meta = meta});
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

// A snapshot is taken before a statement waits: so it is an event of its own where the first step
// locks what somebody locks without a change.
bool begins_first(const SetTxn& txn, const std::vector<SetTxn>& set) {
  const SetStep& first = txn.steps.front();
  uint32_t locked = 0;
  for (const SetTxn& other : set)
    for (const SetStep& step : other.steps) locked |= step.lock != RowLock::none ? step.reads : 0;
  return (txn.isolation == Isolation::snapshot || txn.isolation == Isolation::ssi) &&
         ((first.lock != RowLock::none && first.reads != 0) || (first.changes & locked) != 0);
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
    const bool begins = s.first < 0 && begins_first(txn, set_);
    if (s.first < 0) s.first = now;
    if (begins) return true;
    if (s.next == txn.steps.size()) {
      s.committed = now;
      for (uint32_t k = 0; k < 32; ++k)
        if (s.written >> k & 1) versions_[k].push_back({t, now});
      return true;
    }
    const SetStep& step = txn.steps[s.next++];
    const RowLock lock = txn.isolation == Isolation::prefix ? RowLock::none : step.lock;
    const uint32_t shares = lock == RowLock::share ? step.reads : 0;
    const uint32_t locks = step.changes | (lock == RowLock::update ? step.reads : 0);
    const bool keeps = txn.isolation == Isolation::snapshot || txn.isolation == Isolation::ssi;
    for (uint32_t k = 0; k < 32; ++k) {
      if (!((locks | shares) >> k & 1)) continue;
      if (keeps && !versions_[k].empty() && versions_[k].back().at > s.first) return false;
    }
    const uint32_t all_shared =
        txn.isolation == Isolation::innodb_repeatable_read && !step.plain ? step.reads : shares;
    for (size_t other = 0; other < set_.size(); ++other) {
      if (other == t || state_[other].committed >= 0) continue;
      if ((locks & (state_[other].shared | state_[other].locked)) != 0) return false;
      if ((all_shared & state_[other].locked) != 0) return false;
    }
    s.shared |= all_shared;
    s.locked |= locks;
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
    uint32_t written = 0, locked = 0, shared = 0;  // keys, until it ends
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
    text += (e.what == Schedule::What::step     ? " step "
             : e.what == Schedule::What::commit ? " commit "
                                                : " begin ") +
            std::to_string(e.member);
  text += "; cycle";
  for (const uint32_t member : schedule.cycle) text += " " + std::to_string(member);
  return text + "\n";
}

std::string text_of(const std::vector<SetTxn>& set) {
  std::string text;
  for (const SetTxn& txn : set) {
    text += std::string(certify::isolation_name(txn.isolation)) + ":";
    for (const SetStep& s : txn.statements)
      text += " (" + std::to_string(s.reads) + "," + std::to_string(s.changes) +
              (s.lock == RowLock::none     ? ")"
               : s.lock == RowLock::update ? " for update)"
                                           : " for share)");
    text += "\n";
  }
  return text;
}

// Few enough orders to try all.
bool is_small(const std::vector<SetTxn>& set) {
  double orders = 1, events = 0;
  for (const SetTxn& txn : set)
    for (size_t i = 1; i <= txn.steps.size() + 1 + begins_first(txn, set); ++i)
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

// That the program of the transaction, which is its number, holds.
Robustness claim_of(TxnId t, const std::vector<Isolation>& at, std::vector<Uncut> cuts) {
  Robustness claim;
  for (TxnId other = 0; other < at.size(); ++other)
    claim.programs.push_back({std::to_string(other), at[other], other == t});
  claim.transactions.push_back({{t}, std::move(cuts)});
  return claim;
}

// Where the transaction is cut, for all that an isolation may ask.
std::vector<Uncut> cuts_of(TxnId t, Isolation isolation, const predict::Steps& steps) {
  std::vector<Uncut> cuts;
  const bool by_steps =
      isolation == Isolation::read_committed || isolation == Isolation::innodb_repeatable_read;
  for (uint32_t s = 0; s < steps.count(t); ++s) {
    const auto touches = steps.touches(t, s);
    const bool keeps = isolation == Isolation::snapshot || isolation == Isolation::ssi;
    const uint32_t after = keeps && steps.locks_first(t) ? 0 : s + 1;
    if (isolation == Isolation::read_committed
            ? std::ranges::none_of(touches, &predict::Touch::reads)
            : by_steps && !steps.is_plain(t, s))
      continue;
    if (isolation == Isolation::ssi)
      for (const Ends ends : {Ends::below_ssi_first, Ends::below_ssi_last})
        cuts.push_back({after, ends});
    else
      cuts.push_back({after});
    if (isolation != Isolation::read_committed) break;
  }
  return cuts;
}

// Whether the verifier can be brought to accept that the transaction holds, whatever it is told.
bool can_be_proved(TxnId t, const std::vector<Isolation>& at, const predict::Steps& steps,
                   const RobustnessVerifier& verifier) {
  std::vector<Uncut> cuts;
  for (Uncut cut : cuts_of(t, at[t], steps)) {
    std::vector<Uncut> all = {cut, cut};
    all[1].because = Because::nobody_closes;
    cut.because = Because::apart;
    for (uint32_t set = 0; set < 1u << at.size(); ++set) {
      cut.reached.clear();
      for (TxnId other = 0; other < at.size(); ++other)
        if (set >> other & 1) cut.reached.push_back(other);
      all.push_back(cut);
    }
    const auto stands = [&](const Uncut& one) {
      std::vector<Uncut> so_far = cuts;
      so_far.push_back(one);
      const Status s = verifier.verify(claim_of(t, at, so_far));
      return s.ok() || s.error().message.find("is not there") != std::string::npos;
    };
    const auto found = std::ranges::find_if(all, stands);
    if (found == all.end()) return false;
    cuts.push_back(*found);
  }
  const Status s = verifier.verify(claim_of(t, at, cuts));
  EXPECT_TRUE(s.ok()) << s.error().message;
  return true;
}

// Of a transaction the verifier accepts what the search says, and nothing if that finds a split.
bool agree(TxnId t, bool is_cut, std::vector<Uncut> uncut, const std::vector<Isolation>& at,
           const predict::Steps& steps, const RobustnessVerifier& verifier) {
  if (is_cut) return !can_be_proved(t, at, steps, verifier);
  const Status s = verifier.verify(claim_of(t, at, std::move(uncut)));
  EXPECT_TRUE(s.ok()) << s.error().message;
  return s.ok();
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
    const auto verifier = RobustnessVerifier::of(history);
    ASSERT_TRUE(verifier.ok());
    bool found = false;
    for (TxnId t = 0; t < set.size(); ++t) {
      ASSERT_EQ(certify::steps_of(history, t).size(), set[t].steps.size()) << text_of(set);
      std::vector<Uncut> uncut;
      const auto split = splits.find(t, budget, {}, &uncut);
      ASSERT_TRUE(agree(t, split.has_value(), uncut, at, *steps, *verifier)) << text_of(set) << t;
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

// Some of what they did is not in the history, which says of which keys: nothing that goes wrong is
// overlooked.
TEST(Predict, WhatWasNotRecorded) {
  Rng rng(rotated(9));
  size_t held = 0, wrong = 0;
  for (size_t i = 0; i < scaled(4000); ++i) {
    const std::vector<SetTxn> set =
        random_set(rng, {Isolation::read_committed, Isolation::innodb_repeatable_read,
                         Isolation::prefix, Isolation::snapshot, Isolation::ssi});
    std::vector<SetTxn> recorded = set;
    std::vector<predict::TxnMeta> told(set.size());
    std::vector<std::string> unrecorded;
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
    for (const predict::TxnMeta& t : told)
      unrecorded.push_back("{\"reads\":" + Json(t.reads).dump() +
                           ",\"changes\":" + Json(t.changes).dump() + "}");
    const History history = history_of(recorded, unrecorded);
    Budget budget;
    const auto steps = predict::Steps::of(history, std::vector<bool>(set.size(), true),
                                          predict::Gaps(history, told), budget);
    ASSERT_TRUE(steps.ok());
    predict::Splits splits(*steps, at);
    const auto verifier = RobustnessVerifier::of(history);
    ASSERT_TRUE(verifier.ok());
    bool found = false, whole = true;
    for (TxnId t = 0; t < set.size(); ++t) {
      std::vector<Uncut> uncut;
      const bool is_cut = splits.find(t, budget, {}, &uncut).has_value();
      ASSERT_TRUE(agree(t, is_cut, uncut, at, *steps, *verifier))
          << text_of(set) << text_of(recorded) << unrecorded[t] << t;
      found = found || is_cut;
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
      left.insert(left.end(), set[t].steps.size() + 1 + begins_first(set[t], set), t);
    }
    ByDefinition execution(set);
    bool allowed = true;
    std::vector<size_t> done(set.size(), 0);
    while (!left.empty()) {
      const size_t drawn = rng.below(left.size());
      const uint32_t t = left[drawn];
      left.erase(left.begin() + static_cast<ptrdiff_t>(drawn));
      const bool begins = begins_first(set[t], set);
      const size_t n = done[t]++;
      schedule.events.push_back({begins && n == 0                    ? Schedule::What::begin
                                 : n == set[t].steps.size() + begins ? Schedule::What::commit
                                                                     : Schedule::What::step,
                                 t});
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
    // What the verifier looks for is the next dependency of each key, so a cycle of two may be
    // there only as a longer one.
    if (!allowed || execution.is_refused() || execution.is_serializable()) {
      ASSERT_FALSE(s.ok()) << text_of(set) << text_of(schedule);
    }
  }
  EXPECT_GT(accepted, scaled(40'000) / 400);
}

// A history that ran anyhow, with queries and attempts: some of its operations are of one
// statement, its transactions of two programs.
History with_programs(const History& h, Rng& rng) {
  HistoryBuilder b;
  int64_t sent = 0;
  if (!h.initial().is_null()) b.set_initial(h.initial());
  for (KeyId k = 0; k < h.key_count(); ++k)
    if (h.own_initial(k) != kNone) b.set_initial(h.key(k), h.version_value(h.own_initial(k)));
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    std::vector<int64_t> moments;
    Json sql = Json::array();
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
      sent += static_cast<int64_t>(rng.below(2));
      moments.push_back(sent);
      const char* const lock = std::array{"", "", "share", "update"}[rng.below(4)];
      sql.push_back({{"sent", sent}, {"locks", lock}});
    }
    const std::string meta = std::string(R"({"program":")") + (rng.below(2) == 0 ? "a" : "b") +
                             R"(","sql":)" + sql.dump() + "}";
    b.begin_txn({.session = h.session_name(h.session(t)), .status = h.status(t), .meta = meta});
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
      OpBuffers buffers;
      Op op = h.outside(i, buffers);
      const int64_t moment = moments[i - h.first_op(t)];
      op.time = {moment, moment};
      EXPECT_TRUE(b.add(op));
    }
    ++sent;
    EXPECT_TRUE(b.end_txn().ok());
  }
  auto history = std::move(b).finish();
  EXPECT_TRUE(history.ok());
  return std::move(*history);
}

// What is said to hold was accepted; and so is the allocation, of which all of the programs hold.
TEST(Predict, WhatHoldsInAnyHistory) {
  const std::vector<Isolation> isolations = {Isolation::read_committed,
                                             Isolation::innodb_repeatable_read, Isolation::prefix,
                                             Isolation::snapshot, Isolation::ssi};
  Rng rng(rotated(10));
  size_t held = 0, allocated = 0;
  for (size_t i = 0; i < scaled(4000); ++i) {
    const RandomShape shape = {.max_keys = 5,
                               .max_ops = 3,
                               .rich = 0.7,
                               .predicates = 0.6,
                               .aggregates = 0.3,
                               .own_initial = 0.3};
    const Draft draft = random_draft(rng, shape);
    const auto drawn = draft.history();
    ASSERT_TRUE(drawn.ok());
    const History history = with_programs(*drawn, rng);
    Budget budget;
    const auto predicted = predict::predict(history, {isolations, true}, budget);
    ASSERT_TRUE(predicted.ok());
    for (const predict::Program& program : predicted->programs) {
      ASSERT_TRUE(program.needs.has_value()) << draft.text();
      for (const predict::Prediction& p : program.predictions) {
        ASSERT_EQ(p.reason.find("the verifier does not accept"), std::string::npos)
            << draft.text() << p.reason;
        held += p.answer == predict::Prediction::Answer::holds;
        allocated += p.isolation == *program.needs;
      }
    }
  }
  EXPECT_GT(held, scaled(4000));
  EXPECT_GT(allocated, scaled(4000));
}

// A search that overlooks an operation says that some hold which do not: the verifier has to
// notice.
TEST(PredictCanary, ASearchThatOverlooksAnOperationIsCaught) {
  Rng rng(rotated(11));
  size_t caught = 0;
  for (size_t i = 0; i < scaled(2000); ++i) {
    const std::vector<SetTxn> set =
        random_set(rng, {Isolation::read_committed, Isolation::innodb_repeatable_read,
                         Isolation::prefix, Isolation::snapshot, Isolation::ssi});
    std::vector<SetTxn> seen = set;
    SetStep& s = seen[rng.below(seen.size())].statements.front();
    (rng.below(2) == 0 ? s.reads : s.changes) &= ~(1u << rng.below(4));
    std::vector<Isolation> at;
    for (const SetTxn& txn : set) at.push_back(txn.isolation);
    const History history = history_of(set), other = history_of(seen);
    Budget budget;
    const std::vector<bool> all(set.size(), true);
    const auto steps = predict::Steps::of(history, all, predict::Gaps(), budget);
    const auto fewer = predict::Steps::of(other, all, predict::Gaps(), budget);
    const auto verifier = RobustnessVerifier::of(history);
    ASSERT_TRUE(steps.ok() && fewer.ok() && verifier.ok());
    predict::Splits splits(*steps, at), wrong(*fewer, at);
    for (TxnId t = 0; t < set.size(); ++t) {
      std::vector<Uncut> uncut;
      if (wrong.find(t, budget, {}, &uncut) || !splits.find(t, budget, {})) continue;
      EXPECT_FALSE(verifier->verify(claim_of(t, at, uncut)).ok()) << text_of(set) << t;
      ++caught;
    }
  }
  EXPECT_GE(caught, scaled(2000) / 100);
}

}  // namespace
}  // namespace assay::internal
