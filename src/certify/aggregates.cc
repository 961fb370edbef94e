#include "certify/aggregates.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "certify/operations.h"
#include "certify/refusal.h"
#include "history/predicates.h"

namespace assay::internal::certify {

void Total::add(const AggregateTerm& term) {
  if (term.kind == AggregateTerm::Kind::nothing) return;
  if (term.kind == AggregateTerm::Kind::open) {
    open_ = true;
    return;
  }
  least_ = rows_ == 0 ? term.integer : std::min(least_, term.integer);
  greatest_ = rows_ == 0 ? term.integer : std::max(greatest_, term.integer);
  // If a sum overflows 64 bits on the way, the database decides.
  open_ = open_ || __builtin_add_overflow(sum_, term.integer, &sum_);
  ++rows_;
}

Match Total::gives(const Aggregate& aggregate) const {
  if (open_) return Match::open;
  const auto is = [&](int64_t value) {
    return aggregate.value.type == Cell::Type::integer && aggregate.value.integer == value
               ? Match::yes
               : Match::no;
  };
  if (aggregate.function == AggregateFunction::count) return is(static_cast<int64_t>(rows_));
  if (rows_ == 0) return aggregate.value.type == Cell::Type::null ? Match::yes : Match::no;
  if (aggregate.function == AggregateFunction::sum) return is(sum_);
  return is(aggregate.function == AggregateFunction::min ? least_ : greatest_);
}

AggregateTerm term_of(const History& history, const Conditions& conditions,
                      const Aggregate& aggregate, VersionId version) {
  const ValueView value = history.version_value(version);
  if (value.is_null()) return {};
  const Match match = conditions.match(aggregate.where, version);
  return match == Match::no ? AggregateTerm{} : internal::term_of(aggregate, match, row_of(value));
}

namespace {

// What one key can add: one of these terms, or nothing. If neither is possible, the key can have
// held nothing at all.
struct Terms {
  std::vector<int64_t> integers = {};
  bool nothing = true;
};

// The sums of one term of each key: all of them as long as they are few, otherwise the least and
// the greatest.
class SumsOfKeys {
 public:
  // The number of no rows is 0, the sum of none is null.
  explicit SumsOfKeys(AggregateFunction function) : null_(function == AggregateFunction::sum) {}

  // Adds one more key. False if a sum overflows 64 bits.
  bool add(const Terms& terms) {
    std::vector<int64_t> values = terms.integers;
    if (terms.nothing) values.push_back(0);
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    if (__builtin_add_overflow(least_, *low, &least_) ||
        __builtin_add_overflow(greatest_, *high, &greatest_))
      return false;
    std::set<int64_t> sums;
    if (terms.nothing) sums = sums_;
    for (const int64_t value : terms.integers) {
      for (const int64_t sum : sums_) sums.insert(sum + value);
      if (no_row_) sums.insert(value);
    }
    no_row_ = no_row_ && terms.nothing;
    few_ = few_ && sums.size() <= kMostSums;
    sums_ = few_ ? std::move(sums) : std::set<int64_t>();
    return true;
  }
  bool may_be(int64_t sum) const {
    if (no_row_ && !null_ && sum == 0) return true;
    return sum >= least_ && sum <= greatest_ && (!few_ || sums_.contains(sum));
  }

 private:
  static constexpr size_t kMostSums = 4096;
  const bool null_;
  std::set<int64_t> sums_;  // sums of at least one row
  bool no_row_ = true;      // whether there may be no row
  bool few_ = true;
  int64_t least_ = 0, greatest_ = 0;
};

// Whether one term of each key may give what the aggregate returned, an integer.
Match may_give(const Aggregate& aggregate, std::span<const Terms> keys) {
  const int64_t seen = aggregate.value.integer;
  const bool least = aggregate.function == AggregateFunction::min;
  const auto is_beyond = [&](int64_t term) { return least ? term < seen : term > seen; };
  const bool sums = aggregate.function == AggregateFunction::count ||
                    aggregate.function == AggregateFunction::sum;
  bool had = false, beyond = false;
  SumsOfKeys all(aggregate.function);
  for (const Terms& key : keys) {
    if (key.integers.empty() && !key.nothing) return Match::no;
    if (sums && !all.add(key)) return Match::open;
    had = had || std::ranges::count(key.integers, seen) > 0;
    beyond = beyond || (!key.nothing && std::ranges::all_of(key.integers, is_beyond));
  }
  return (sums ? all.may_be(seen) : had && !beyond) ? Match::yes : Match::no;
}

Error left_open(const History& history, OpId aggregate) {
  return refuse("it is not certain that the aggregate of transaction {} is wrong",
                history.name(history.txn_of(aggregate)));
}

Error may_be_right(const History& history, OpId aggregate) {
  return refuse("rows of the history may explain the aggregate of transaction {}",
                history.name(history.txn_of(aggregate)));
}

const Aggregate* aggregate_of(const History& history, OpId op) {
  if (op >= history.op_count() || !access_of(history, op).is_range()) return nullptr;
  const uint32_t aggregate = history.selected(op).aggregate;
  return aggregate == kNone ? nullptr : &history.predicates().aggregate(aggregate);
}

class AggregateClaimCheck {
 public:
  AggregateClaimCheck(const History& history, const BadRead& claim, const Aggregate& aggregate)
      : history_(history),
        claim_(claim),
        aggregate_(aggregate),
        conditions_(history),
        reader_(history.txn_of(claim.read)),
        tombstone_(history.version_count()),
        list_(history.key_count()) {
    for (const Access& a : all_accesses(history)) {
      if (a.removes()) tombstone_[a.version] = true;
      if (a.appends()) list_[a.key] = true;
    }
  }

  Status run() {
    if (aggregate_.value.type != Cell::Type::integer ||
        conditions_.match_initial(aggregate_.where) != Match::no)
      return open();
    find_own_writes();
    if (claim_.other != kNone) find_reads();
    const Predicates& known = history_.predicates();
    for (const auto versions : {known.certain(aggregate_.where), known.open(aggregate_.where)})
      for (const VersionId v : versions)
        if (Status s = add(v); !s.ok()) return s;
    for (const auto& [key, version] : fixed_)
      if (within(key)) all_[key].nothing = true;
    if (Status s = fix(); !s.ok()) return s;
    return judge();
  }

 private:
  Error open() const { return left_open(history_, claim_.read); }
  bool within(KeyId key) const { return covers(history_, claim_.read, key); }

  // Finds what the transaction wrote before the aggregate; kNone: it left the key absent.
  void find_own_writes() {
    for (const Access& a : accesses_before(history_, claim_.read))
      if (a.writes()) fixed_[a.key] = a.removes() ? VersionId{kNone} : a.version;
  }

  // Finds what the transaction read of keys that it had not written, if it sees one state of each.
  void find_reads() {
    std::vector<KeyId> written;
    const auto fix = [&](KeyId key, VersionId version) {
      if (std::find(written.begin(), written.end(), key) == written.end() &&
          (version == kNone || !tombstone_[version]))
        fixed_.try_emplace(key, version);  // the transaction's own writes before the aggregate are
                                           // there already
    };
    for (const Access& a : accesses(history_, reader_)) {
      if (a.accepts == Accepts::equals) fix(a.key, a.seen);
      if (a.is_range() && history_.selected(a.op).aggregate == kNone) {
        for (const VersionId v : history_.selected(a.op).rows) fix(history_.version_key(v), v);
        for (const KeyId key : skipped(a.op)) fix(key, kNone);
      }
      if (a.writes()) written.push_back(a.key);
    }
  }

  // The keys about which a query with the same condition, or with none, says that they have no row
  // of the aggregate. With the same condition it says nothing about keys with a version that may or
  // may not satisfy the condition.
  std::set<KeyId> skipped(OpId range) const {
    const Selected selected = history_.selected(range);
    if (!selected.complete ||
        (selected.predicate != kNone && selected.predicate != aggregate_.where))
      return {};
    std::set<KeyId> keys;
    const Predicates& known = history_.predicates();
    for (const VersionId v : known.certain(aggregate_.where))
      if (const KeyId key = history_.version_key(v); covers(history_, range, key)) keys.insert(key);
    for (const VersionId v : known.open(aggregate_.where)) {
      const KeyId key = history_.version_key(v);
      if (selected.predicate != kNone)
        keys.erase(key);
      else if (covers(history_, range, key))
        keys.insert(key);
    }
    for (const VersionId v : selected.rows) keys.erase(history_.version_key(v));
    for (const KeyId key : selected.matched) keys.erase(key);
    return keys;
  }

  Status add(VersionId v) {
    const KeyId key = history_.version_key(v);
    if (!within(key) || fixed_.contains(key)) return Ok{};
    if (list_[key]) return open();
    const AggregateTerm term = term_of(history_, conditions_, aggregate_, v);
    if (term.kind == AggregateTerm::Kind::open) return open();
    if (term.kind == AggregateTerm::Kind::integer) all_[key].integers.push_back(term.integer);
    return Ok{};
  }

  Status fix() {
    for (const auto& [key, version] : fixed_) {
      if (!within(key)) continue;
      if (list_[key]) return open();
      Terms& terms = all_[key];
      const AggregateTerm term =
          version == kNone ? AggregateTerm{} : term_of(history_, conditions_, aggregate_, version);
      if (term.kind == AggregateTerm::Kind::open) return open();
      if (term.kind == AggregateTerm::Kind::nothing) continue;
      terms = {{term.integer}, false};
    }
    return Ok{};
  }

  Status judge() const {
    std::vector<Terms> keys;
    for (const auto& [key, terms] : all_) keys.push_back(terms);
    const Match match = may_give(aggregate_, keys);
    if (match == Match::open) return open();
    if (match == Match::yes) return may_be_right(history_, claim_.read);
    return Ok{};
  }

  const History& history_;
  const BadRead& claim_;
  const Aggregate& aggregate_;
  const Conditions conditions_;
  const TxnId reader_;
  std::vector<bool> tombstone_, list_;
  std::unordered_map<KeyId, VersionId> fixed_;  // what keys certainly held
  std::unordered_map<KeyId, Terms> all_;
};

}  // namespace

Status check_aggregate(const History& history, const BadRead& claim) {
  const TxnId reader = history.txn_of(claim.read);
  if (history.status(reader) != TxnStatus::committed)
    return refuse("transaction {}, which has the aggregate, need not have taken effect",
                  history.name(reader));
  const Aggregate* const aggregate = aggregate_of(history, claim.read);
  if (aggregate == nullptr) return refuse("the operation is not an aggregate");
  if (claim.other != kNone && history.txn_of(claim.other) != reader)
    return refuse("the other operation is not in transaction {}", history.name(reader));
  return AggregateClaimCheck(history, claim, *aggregate).run();
}

Status check_gives_otherwise(const Sources& sources, const Writes& writes, OpId op,
                             const LevelInfo& level, std::span<const Literal> unless) {
  const History& history = writes.history();
  const Aggregate* const aggregate = aggregate_of(history, op);
  if (aggregate == nullptr) return refuse("the operation is not an aggregate");
  const Conditions conditions(history);
  if (aggregate->value.type != Cell::Type::integer ||
      conditions.match_initial(aggregate->where) != Match::no)
    return left_open(history, op);
  std::unordered_map<KeyId, State> own;
  for (const Access& a : accesses_before(history, op))
    if (a.writes()) own[a.key] = state_after(history.txn_of(op), a);
  std::vector<Terms> keys;
  for (const KeyId key : sources.keys_of_aggregate(op)) {
    Terms& terms = keys.emplace_back(Terms{{}, false});
    const auto add = [&](const State& state) {
      const AggregateTerm term = state.removed || state.version == kNone
                                     ? AggregateTerm()
                                     : term_of(history, conditions, *aggregate, state.version);
      if (term.kind == AggregateTerm::Kind::integer) terms.integers.push_back(term.integer);
      terms.nothing = terms.nothing || term.kind == AggregateTerm::Kind::nothing;
      return term.kind != AggregateTerm::Kind::open;
    };
    if (const auto written = own.find(key); written != own.end()) {
      if (!add(written->second)) return left_open(history, op);
      continue;
    }
    const auto possible = sources.of(op, key, one_state(level));
    if (!possible.ok()) return possible.error();
    for (const TxnId source : *possible) {
      const bool excepted = std::ranges::any_of(unless, [&](const Literal& literal) {
        return literal.kind == Literal::Kind::seen && literal.key == key && literal.from == source;
      });
      if (excepted) continue;
      if (!add(source == kNone ? initial_state(history, key)
                               : writes.left(*writes.left_by(source, key))))
        return left_open(history, op);
    }
  }
  const Match match = may_give(*aggregate, keys);
  if (match == Match::open) return left_open(history, op);
  if (match == Match::yes) return may_be_right(history, op);
  return Ok{};
}

}  // namespace assay::internal::certify
