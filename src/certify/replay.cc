#include "certify/replay.h"

#include <algorithm>
#include <unordered_set>

#include "certify/refusal.h"
#include "history/predicates.h"

namespace assay::internal::certify {

Replay::Replay(const History& history)
    : history_(history), conditions_(history), keys_(history.key_count()) {
  for (KeyId k = 0; k < keys_.size() && history.has_own_initial(); ++k)
    keys_[k].current = initial_state(history, k);
  if (has_ranges(history))
    present_ = std::make_unique<PresentKeys>(history, !history.initial().is_null());
}

Status Replay::read(TxnId t, OpId first, OpId end) {
  own_keys_.clear();
  if (present_)
    for (const Access& a : Accesses(history_, history_.first_op(t), first))
      if (a.writes()) own_keys_.push_back(a.key);
  for (const Access& a : Accesses(history_, first, end)) {
    if (a.reads())
      if (Status s = judge(t, a); !s.ok()) return s;
    if (a.appends()) {
      if (Status s = append_own(t, a); !s.ok()) return s;
    } else if (a.writes()) {
      own_write(t, a.key, state_after(t, a));
    }
  }
  return Ok{};
}

Status Replay::install(TxnId t) {
  for (const Access& a : accesses(history_, t)) {
    if (!a.writes()) continue;
    State& current = keys_[a.key].current;
    if (a.appends()) {
      if (Status s = append(t, a); !s.ok()) return s;
    } else {
      if (current.version == kUnnamed) lists_[a.key].clear();
      current = state_after(t, a);
    }
    if (present_) present_->set(a.key, !is_absent(history_, current));
  }
  return Ok{};
}

Status Replay::judge(TxnId t, const Access& a) {
  if (a.is_range()) return judge_range(t, a.op);
  if (a.is_list()) {
    if (!shows_list(a.key, t, history_.operands(a.op))) return mismatch(t, a.op);
    return Ok{};
  }
  const State& state = seen(keys_[a.key], t);
  if (!accepts(history_, a, state)) return mismatch(t, a.op);
  if (!may_be_from(history_, state, a.op)) return other_source(t, a.op, state);
  return Ok{};
}

void Replay::own_write(TxnId t, KeyId k, const State& left) {
  Key& key = keys_[k];
  if (present_ && key.owner != t) own_keys_.push_back(k);
  key.owner = t;
  key.own = left;
}

bool Replay::shows_list(KeyId k, TxnId t, std::span<const VersionId> elements) const {
  const Key& key = keys_[k];
  const bool own = key.owner == t;
  if (own && key.own.version == kUnnamed) {
    const OwnList& mine = own_lists_[k];
    if (elements.size() < mine.added.size()) return false;
    const auto rest = elements.first(elements.size() - mine.added.size());
    if (!std::equal(mine.added.begin(), mine.added.end(), elements.begin() + rest.size()))
      return false;
    if (!mine.extends || key.current.version != kUnnamed) return rest.empty();
    return std::equal(rest.begin(), rest.end(), lists_[k].begin(), lists_[k].end());
  }
  const State& state = own ? key.own : key.current;
  if (state.version == kUnnamed)
    return std::equal(elements.begin(), elements.end(), lists_[k].begin(), lists_[k].end());
  // A list is empty before the first append, whatever the initial value of other keys.
  return elements.empty() && takes_elements(state);
}

// Whether the state is a list, absent, or was never written.
bool Replay::takes_elements(const State& state) const {
  return state.version == kUnnamed || state.version == kNone || is_absent(history_, state);
}

Status Replay::append_own(TxnId t, const Access& a) {
  const Key& key = keys_[a.key];
  const State& before = seen(key, t);
  if (!takes_elements(before)) return mismatch(t, a.op);
  if (own_lists_.empty()) own_lists_.resize(keys_.size());
  OwnList& mine = own_lists_[a.key];
  if (key.owner != t) {
    mine = {true, {}};
  } else if (before.version != kUnnamed) {
    mine = {false, {}};
  }
  mine.added.push_back(a.version);
  own_write(t, a.key, {kUnnamed, false, t});
  return Ok{};
}

Status Replay::append(TxnId t, const Access& a) {
  State& current = keys_[a.key].current;
  if (!takes_elements(current)) return mismatch(t, a.op);
  if (lists_.empty()) lists_.resize(keys_.size());
  current = {kUnnamed};
  lists_[a.key].push_back(a.version);
  return Ok{};
}

// Judges a range: every row must be what its key holds, and satisfy the condition or not as it has
// to; nothing else in the range may.
Status Replay::judge_range(TxnId t, OpId i) {
  const std::span<const uint32_t> operands = history_.operands(i);
  const KeyId lo = operands[0], hi = operands[1];
  const Selected selected = history_.selected(i);
  const PredicateId predicate = selected.predicate;
  std::unordered_set<KeyId> named;
  bool right = true;
  each_named(history_, i, [&](const Named& one) {
    right = right && named.insert(one.key).second && present_->in_range(one.key, lo, hi) &&
            conditions_.agrees(predicate, one, seen(keys_[one.key], t));
  });
  if (!right) return mismatch(t, i);
  if (is_open(history_, i))
    if (Status s = judge_aggregate(t, i, history_.predicates().aggregate(selected.aggregate));
        !s.ok())
      return s;
  if (!selected.complete) return Ok{};
  for (const KeyId k : own_keys_)
    if (present_->in_range(k, lo, hi) && !named.contains(k) &&
        conditions_.match(predicate, keys_[k].own) == Match::yes)
      return mismatch(t, i);
  // What the transaction itself wrote was judged above.
  const auto left_out = [&](KeyId k) {
    const State& held = keys_[k].current;
    return !conditions_.certainly_misses(predicate, held) && keys_[k].owner != t &&
           !named.contains(k) && conditions_.match(predicate, held) == Match::yes;
  };
  bool complete = true;
  const auto satisfying = [&] { return history_.predicates().certain(predicate); };
  if (predicate == kNone || conditions_.match_initial(predicate) == Match::yes ||
      present_->count() < satisfying().size()) {
    present_->each(lo, hi, [&](KeyId k) { return complete = !left_out(k); });
  } else {
    // Among thousands of keys, few ever held anything that satisfies a condition.
    for (const VersionId v : satisfying()) {
      const KeyId k = history_.version_key(v);
      if (keys_[k].current.version == v && left_out(k) && present_->in_range(k, lo, hi))
        complete = false;
    }
  }
  if (!complete) return mismatch(t, i);
  return Ok{};
}

Status Replay::judge_aggregate(TxnId t, OpId i, const Aggregate& aggregate) {
  const std::span<const uint32_t> operands = history_.operands(i);
  Total total;
  if (conditions_.match_initial(aggregate.where) != Match::no)
    total.add({AggregateTerm::Kind::open});
  for (const KeyId k : history_.predicates().keys(aggregate.where)) {
    const State& state = seen(keys_[k], t);
    if (!present_->in_range(k, operands[0], operands[1]) || is_absent(history_, state)) continue;
    if (state.version == kUnnamed)
      total.add({AggregateTerm::Kind::open});
    else if (state.version != kNone)
      total.add(term_of(history_, conditions_, aggregate, state.version));
  }
  const Match gives = total.gives(aggregate);
  if (gives == Match::yes) return Ok{};
  return refuse("{} of transaction {} returned {}, which {} the state at its place in the order",
                in_words(history_, aggregate), history_.name(t),
                value_of(aggregate.value).to_string(),
                gives == Match::no ? "is not the value for" : "may not be the value for");
}

Error Replay::other_source(TxnId t, OpId i, const State& state) const {
  const auto name = [&](TxnId writer) {
    return writer == kInitialTxn ? "the initial state" : "transaction " + history_.name(writer);
  };
  return refuse(
      "transaction {} is stated to read {} from {}, but at its place in the order the last writer "
      "is {}",
      history_.name(t), history_.key(access_of(history_, i).key).to_string(),
      name(history_.stated_source(i)), name(state.writer));
}

Error Replay::mismatch(TxnId t, OpId i) const {
  const Access a = access_of(history_, i);
  if (a.is_range())
    return refuse(
        "a range query of transaction {} did not return exactly the rows at its place in the order",
        history_.name(t));
  const State& held = seen(keys_[a.key], t);
  const std::string key = history_.key(a.key).to_string();
  std::string state = key + " holds its initial value";
  if (held.version == kUnnamed) {
    state = key + " holds another list";
  } else if (held.version != kNone) {
    state = show_version(history_, held.version) + (held.removed ? ", a removal" : "");
  }
  if (a.accepts == Accepts::equals && !a.writes())
    return refuse("transaction {} reads {}, but at its place in the order {}", history_.name(t),
                  show_version(history_, a.seen), state);
  return refuse("{} has another outcome at its place in the order, where {}",
                show_operation(history_, i), state);
}

}  // namespace assay::internal::certify
