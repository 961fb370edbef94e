#include "certify/replay.h"

#include <algorithm>
#include <unordered_set>

#include "certify/reads.h"
#include "certify/refusal.h"
#include "certify/stated_sources.h"
#include "history/predicates.h"

namespace assay::internal::certify {

Replay::Replay(const History& history)
    : history_(history), conditions_(history), keys_(history.key_count()) {
  for (KeyId k = 0; k < keys_.size() && history.has_own_initial(); ++k)
    keys_[k].current.version = history.own_initial(k);
  if (has_ranges(history))
    present_ = std::make_unique<PresentKeys>(history, !history.initial().is_null());
}

Status Replay::read(TxnId t) {
  own_keys_.clear();
  for (OpId i = history_.first_op(t); i < history_.end_op(t); ++i) {
    const Operation op = history_.op(i);
    if (op.kind == OpKind::read) {
      const Content& content = seen(keys_[op.key], t);
      if (!shows(content, op.version)) return mismatch(t, i);
      if (history_.states_sources() && !is_from(content, i)) return other_source(t, i, content);
    } else if (op.kind == OpKind::write) {
      own_write(t, op.key, {op.version, false, t});
    } else if (Status s = judge(t, i, op); !s.ok()) {
      return s;
    }
  }
  return Ok{};
}

Status Replay::install(TxnId t) {
  for (OpId i = history_.first_op(t); i < history_.end_op(t); ++i) {
    const Operation op = history_.op(i);
    if (!writes(op)) continue;
    Key& key = keys_[op.key];
    if (op.kind == OpKind::append) {
      if (Status s = append(i, op); !s.ok()) return s;
    } else {
      if (key.current.version == kList) lists_[op.key].clear();
      key.current = {op.version, op.kind == OpKind::remove, t};
    }
    if (present_) present_->set(op.key, !absent(key.current));
  }
  return Ok{};
}

// The operations besides plain reads and writes.
Status Replay::judge(TxnId t, OpId i, const Operation& op) {
  switch (op.kind) {
    case OpKind::remove:
      own_write(t, op.key, {op.version, true, t});
      return Ok{};
    case OpKind::append:
      return append_own(t, i, op);
    case OpKind::read_list:
      if (!shows_list(op.key, t, history_.operands(i))) return mismatch(t, i);
      return Ok{};
    case OpKind::range:
      return judge_range(t, i);
    case OpKind::cas:
      if (shows(seen(keys_[op.key], t), history_.operands(i)[0]) != op.effect)
        return mismatch(t, i);
      break;
    case OpKind::insert:
      if (absent(seen(keys_[op.key], t)) != op.effect) return mismatch(t, i);
      break;
    case OpKind::read:
    case OpKind::write:
      break;
  }
  if (op.effect) own_write(t, op.key, {op.version, false, t});
  return Ok{};
}

void Replay::own_write(TxnId t, KeyId k, Content content) {
  Key& key = keys_[k];
  if (present_ && key.owner != t) own_keys_.push_back(k);
  key.owner = t;
  key.own = content;
}

// Whether reading a key in this state may return `version`: its own version, the initial value, or,
// after a removal, null.
bool Replay::shows(const Content& content, VersionId version) const {
  if (content.version == version) return true;
  if (content.version == kInitial) return history_.is_initial(version);
  return content.removed && history_.version_value(version).is_null();
}

bool Replay::is_from(const Content& content, OpId read) const {
  const TxnId stated = stated_to_be_from(history_, read);
  return stated == kNone || stated == content.writer;
}

bool Replay::absent(const Content& content) const {
  if (content.version == kInitial) return history_.initial().is_null();
  if (content.version == kList) return false;
  return content.removed || history_.version_value(content.version).is_null();
}

// Whether what is there satisfies a condition.
Match Replay::match(PredicateId predicate, const Content& content) const {
  if (absent(content)) return Match::no;
  if (content.version == kInitial) return conditions_.match_initial(predicate);
  if (content.version == kList) return predicate == kNone ? Match::yes : Match::open;
  return conditions_.match(predicate, content.version);
}

bool Replay::shows_list(KeyId k, TxnId t, std::span<const VersionId> elements) const {
  const Key& key = keys_[k];
  const bool own = key.owner == t;
  if (own && key.own.version == kList) {
    const OwnList& mine = own_lists_[k];
    if (elements.size() < mine.added.size()) return false;
    const auto rest = elements.first(elements.size() - mine.added.size());
    if (!std::equal(mine.added.begin(), mine.added.end(), elements.begin() + rest.size()))
      return false;
    if (!mine.extends || key.current.version != kList) return rest.empty();
    return std::equal(rest.begin(), rest.end(), lists_[k].begin(), lists_[k].end());
  }
  const Content& content = own ? key.own : key.current;
  if (content.version == kList)
    return std::equal(elements.begin(), elements.end(), lists_[k].begin(), lists_[k].end());
  // A list that nobody has appended to is empty, whatever the initial value of other keys.
  return elements.empty() && (content.version == kInitial || absent(content));
}

Status Replay::append_own(TxnId t, OpId i, const Operation& op) {
  const Key& key = keys_[op.key];
  const Content before = seen(key, t);
  if (before.version != kList && before.version != kInitial && !absent(before))
    return mismatch(t, i);
  if (own_lists_.empty()) own_lists_.resize(keys_.size());
  OwnList& mine = own_lists_[op.key];
  if (key.owner != t) {
    mine = {true, {}};
  } else if (before.version != kList) {
    mine = {false, {}};
  }
  mine.added.push_back(op.version);
  own_write(t, op.key, {kList, false, t});
  return Ok{};
}

Status Replay::append(OpId i, const Operation& op) {
  Content& current = keys_[op.key].current;
  if (current.version != kList && current.version != kInitial && !absent(current))
    return mismatch(history_.txn_of(i), i);
  if (lists_.empty()) lists_.resize(keys_.size());
  current = {kList, false, kInitialTxn};
  lists_[op.key].push_back(op.version);
  return Ok{};
}

// Every row is what its key holds, and satisfies the condition or not as it has to; nothing else in the range does.
Status Replay::judge_range(TxnId t, OpId i) {
  const std::span<const uint32_t> operands = history_.operands(i);
  const KeyId lo = operands[0], hi = operands[1];
  const Selected selected = history_.selected(i);
  const PredicateId predicate = selected.predicate;
  std::unordered_set<KeyId> named;
  const auto fits = [&](KeyId k) {
    return named.insert(k).second && present_->in_range(k, lo, hi);
  };
  for (const VersionId row : selected.rows) {
    const KeyId k = history_.version_key(row);
    // Without a condition a row may be returned as absent.
    const bool right = predicate == kNone || conditions_.match(predicate, row) != Match::no;
    if (!fits(k) || !right || !shows(seen(keys_[k], t), row)) return mismatch(t, i);
  }
  for (const VersionId row : selected.passed) {
    const KeyId k = history_.version_key(row);
    if (!fits(k) || conditions_.match(predicate, row) == Match::yes ||
        !shows(seen(keys_[k], t), row))
      return mismatch(t, i);
  }
  for (const KeyId k : selected.matched)
    if (!fits(k) || match(predicate, seen(keys_[k], t)) == Match::no) return mismatch(t, i);
  if (is_open(history_, i))
    if (Status s = judge_aggregate(t, i, history_.predicates().aggregate(selected.aggregate));
        !s.ok())
      return s;
  if (!selected.complete) return Ok{};
  for (const KeyId k : own_keys_)
    if (present_->in_range(k, lo, hi) && !named.contains(k) &&
        match(predicate, keys_[k].own) == Match::yes)
      return mismatch(t, i);
  // What the transaction itself wrote was judged above.
  const auto left_out = [&](KeyId k) {
    const Content& held = keys_[k].current;
    if (held.version < history_.version_count() &&
        conditions_.certainly_misses(predicate, {held.version, held.removed}))
      return false;
    return keys_[k].owner != t && !named.contains(k) && match(predicate, held) == Match::yes;
  };
  bool complete = true;
  const auto satisfying = [&] { return history_.predicates().certain(predicate); };
  if (predicate == kNone || conditions_.match_initial(predicate) == Match::yes ||
      present_->count() < satisfying().size()) {
    present_->each(lo, hi, [&](KeyId k) { return complete = !left_out(k); });
  } else {
    // Of thousands of keys few ever held what satisfies a condition.
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
    const Content& content = seen(keys_[k], t);
    if (!present_->in_range(k, operands[0], operands[1]) || absent(content)) continue;
    if (content.version == kList)
      total.add({AggregateTerm::Kind::open});
    else if (content.version != kInitial)
      total.add(term_of(history_, conditions_, aggregate, content.version));
  }
  const Match gives = total.gives(aggregate);
  if (gives == Match::yes) return Ok{};
  return refuse(
      "{} of transaction {} returned {}, which {} what is there at its place in the order",
      in_words(history_, aggregate), history_.name(t), value_of(aggregate.value).to_string(),
      gives == Match::no ? "is not that of" : "may not be that of");
}

Error Replay::other_source(TxnId t, OpId i, const Content& content) const {
  const auto name = [&](TxnId writer) {
    return writer == kInitialTxn ? "the initial state" : "transaction " + history_.name(writer);
  };
  return refuse(
      "transaction {} is stated to read {} from {}, but at its place in the order it is {}'s",
      history_.name(t), history_.key(history_.op(i).key).to_string(),
      name(history_.stated_source(i)), name(content.writer));
}

Error Replay::mismatch(TxnId t, OpId i) const {
  const Operation op = history_.op(i);
  if (op.kind == OpKind::range)
    return refuse(
        "a range query of transaction {} did not return exactly what is there at its place "
        "in the order",
        history_.name(t));
  const Content& content = seen(keys_[op.key], t);
  const std::string key = history_.key(op.key).to_string();
  std::string state = key + " holds its initial value";
  if (content.version == kList) {
    state = key + " holds another list";
  } else if (content.version != kInitial) {
    state = show_version(history_, content.version) + (content.removed ? ", a removal" : "");
  }
  if (op.kind == OpKind::read)
    return refuse("transaction {} reads {}, but at its place in the order {}", history_.name(t),
                  show_version(history_, op.version), state);
  return refuse(
      "operation {} of transaction {} has another outcome at its place in the order, where {}",
      i - history_.first_op(t), history_.name(t), state);
}

}  // namespace assay::internal::certify
