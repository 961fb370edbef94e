#include "infer/aggregates.h"

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include "history/accesses.h"
#include "history/aggregate.h"
#include "history/copy.h"
#include "history/predicates.h"
#include "infer/replay.h"

namespace assay::internal {
namespace {

const Aggregate& aggregate_of(const History& h, OpId op) {
  return h.predicates().aggregate(h.selected(op).aggregate);
}

bool is_within(const History& h, OpId range, KeyId key) {
  const KeyBounds bounds = bounds_of(h, range);
  return (bounds.from == kNone || !key_less(h.key(key), h.key(bounds.from))) &&
         (bounds.to == kNone || !key_less(h.key(bounds.to), h.key(key)));
}

std::vector<bool> keys_with_lists(const History& h) {
  std::vector<bool> lists(h.key_count());
  for (OpId i = 0; i < h.op_count(); ++i)
    if (is_list_operation(h.op(i))) lists[h.op(i).key] = true;
  return lists;
}

// Whether an aggregate gives what it returned for the keys in some state, and of which versions.
class Evaluation {
 public:
  Evaluation(const History& h, const std::vector<bool>& lists, OpId op)
      : h_(h), lists_(lists), aggregate_(aggregate_of(h, op)) {
    for (const KeyId key : h.predicates().keys(aggregate_.where))
      if (is_within(h, op, key)) keys_.push_back(key);
    for (OpId i = h.first_op(h.txn_of(op)); i < op; ++i)
      if (installs_version(h.op(i))) own_[h.op(i).key] = install_of(h, i).state();
    initially_ = h.predicates().match_initial(aggregate_.where) != Match::no;
  }

  const std::vector<KeyId>& keys() const { return keys_; }
  PredicateId where() const { return aggregate_.where; }
  // What the transaction itself wrote before; null if nothing.
  const KeyState* own(KeyId key) const {
    const auto found = own_.find(key);
    return found == own_.end() ? nullptr : &found->second;
  }

  Match in(const KeysHeld& held, VersionSet* rows = nullptr) const {
    if (initially_) return Match::open;
    begin(rows);
    for (const KeyId key : keys_) {
      const KeyState* mine = own(key);
      const KeyState& state = mine != nullptr ? *mine : held[key].state;
      if (is_absent(h_, state) || state.version == kNone) continue;
      if (lists_[key]) return Match::open;
      if (!add(state.version, rows)) return Match::open;
    }
    return gives();
  }

  Match of(const VersionSet& versions) const {
    begin(nullptr);
    for (const VersionId v : versions)
      if (!add(v, nullptr)) return Match::open;
    return gives();
  }

  AggregateTerm term(VersionId v) const {
    const Match match = h_.predicates().match(aggregate_.where, v);
    if (match == Match::no) return {};
    return term_of(aggregate_, match, row_of(h_.version_value(v)));
  }

 private:
  void begin(VersionSet* rows) const {
    terms_ = 0;
    if (rows != nullptr) rows->clear();
  }

  // False where what it adds is open.
  bool add(VersionId v, VersionSet* rows) const {
    const Match match = h_.predicates().match(aggregate_.where, v);
    if (match == Match::no) return true;
    const AggregateTerm term = term_of(aggregate_, match, row_of(h_.version_value(v)));
    if (rows != nullptr) rows->push_back(v);
    if (term.kind != AggregateTerm::Kind::integer) return term.kind != AggregateTerm::Kind::open;
    if (terms_++ == 0)
      value_ = term.integer;
    else if (aggregate_.function == AggregateFunction::min)
      value_ = std::min(value_, term.integer);
    else if (aggregate_.function == AggregateFunction::max)
      value_ = std::max(value_, term.integer);
    else
      return !__builtin_add_overflow(value_, term.integer, &value_);
    return true;
  }

  Match gives() const {
    const Cell& seen = aggregate_.value;
    if (terms_ == 0 && aggregate_.function != AggregateFunction::count)
      return seen.type == Cell::Type::null ? Match::yes : Match::no;
    const bool same =
        seen.type == Cell::Type::integer && seen.integer == (terms_ == 0 ? 0 : value_);
    return same ? Match::yes : Match::no;
  }

  const History& h_;
  const std::vector<bool>& lists_;  // per key: it holds a list
  const Aggregate& aggregate_;
  std::vector<KeyId> keys_;
  std::unordered_map<KeyId, KeyState> own_;
  bool initially_ = false;
  mutable uint64_t terms_ = 0;
  mutable int64_t value_ = 0;
};

// --- what no version set gives

// The versions a key may have had where an aggregate was computed: one, or any.
class PossibleTerms {
 public:
  PossibleTerms(const History& h, const std::vector<bool>& lists,
                const std::vector<bool>& tombstone)
      : h_(h), lists_(lists), tombstone_(tombstone) {}

  // An operation of the transaction that shows why, if what it read besides does; the aggregate itself if that is not needed;
  // kNone if some versions may give it.
  OpId reason(OpId op, bool one_state) {
    const Aggregate& aggregate = aggregate_of(h_, op);
    if (aggregate.value.type != Cell::Type::integer ||
        h_.predicates().match_initial(aggregate.where) != Match::no)
      return kNone;
    const Evaluation evaluation(h_, lists_, op);
    const SeenOfKeys besides = one_state ? seen_besides(op, evaluation.keys()) : SeenOfKeys();
    begin();
    bool had = false;
    OpId why = op;
    for (const KeyId key : evaluation.keys()) {
      if (lists_[key]) return kNone;
      const auto seen = besides.find(key);
      const KeyState* own = evaluation.own(key);
      std::optional<VersionId> only;
      if (own != nullptr) {
        only = own->removed ? VersionId{kNone} : own->version;
      } else if (seen != besides.end()) {
        only = seen->second.version;
        why = seen->second.by;
      }
      if (!find_terms(evaluation, key, only)) return kNone;
      had = had || std::find(terms_.begin(), terms_.end(), aggregate.value.integer) != terms_.end();
      if (!only || terms_.empty()) terms_.push_back(0);
      if (!add_key()) return kNone;
    }
    const bool sums = aggregate.function == AggregateFunction::count ||
                      aggregate.function == AggregateFunction::sum;
    return (sums ? !may_be(aggregate.value.integer) : !had) ? why : OpId{kNone};
  }

 private:
  // What the transaction saw of a key that it had not written: a version, or kNone: nothing that adds to the aggregate.
  struct Seen {
    VersionId version;
    OpId by;
  };
  using SeenOfKeys = std::unordered_map<KeyId, Seen>;

  SeenOfKeys seen_besides(OpId op, std::span<const KeyId> keys) {
    SeenOfKeys all;
    std::vector<KeyId> written;
    const TxnId t = h_.txn_of(op);
    const auto add = [&](KeyId key, VersionId version, OpId by) {
      const bool before = std::find(written.begin(), written.end(), key) == written.end();
      if (before && (version == kNone || !tombstone_[version]))
        all.try_emplace(key, Seen{version, by});
    };
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
      const Operation one = h_.op(i);
      if (installs_version(one)) {
        written.push_back(one.key);
      } else if (is_range(one)) {
        for (const VersionId v : rows_returned(i)) add(h_.version_key(v), v, i);
        for (const KeyId key : keys)
          if (passes_over(i, key, aggregate_of(h_, op).where)) add(key, kNone, i);
      } else if (const Observation seen = observation_of(h_, i); seen.accepts == Accepts::equals) {
        add(seen.key, seen.version, i);
      }
    }
    return all;
  }
  std::span<const VersionId> rows_returned(OpId range) const {
    const Selected selected = h_.selected(range);
    return selected.aggregate == kNone ? selected.rows : std::span<const VersionId>();
  }
  // Whether a query with the condition of the aggregate, or with none, says of the key that it has no row of it. Where a
  // version of the key may or may not satisfy the condition, the query and the aggregate need not agree on it.
  bool passes_over(OpId range, KeyId key, PredicateId where) {
    const Selected selected = h_.selected(range);
    if (selected.aggregate != kNone || !selected.complete || !is_within(h_, range, key))
      return false;
    if (selected.predicate != kNone && (selected.predicate != where || of_key(where, key).open))
      return false;
    return std::ranges::find(selected.matched, key) == selected.matched.end() &&
           std::ranges::none_of(selected.rows,
                                [&](VersionId v) { return h_.version_key(v) == key; });
  }

  // What the key can add, but for nothing. False if that is open.
  bool find_terms(const Evaluation& evaluation, KeyId key, std::optional<VersionId> only) {
    terms_.clear();
    if (only && *only == kNone) return true;
    const auto add = [&](VersionId v) {
      const AggregateTerm term = evaluation.term(v);
      if (term.kind == AggregateTerm::Kind::integer) terms_.push_back(term.integer);
      return term.kind != AggregateTerm::Kind::open;
    };
    if (only) return add(*only);
    return std::ranges::all_of(of_key(evaluation.where(), key).versions, add);
  }

  // --- what the keys so far add up to: all sums if they are few

  static constexpr size_t kMostSums = 4096, kMostSteps = size_t{1} << 20;

  void begin() {
    sums_ = {0};
    few_ = true;
    least_ = greatest_ = 0;
  }
  // False if a sum leaves 64 bits.
  bool add_key() {
    const auto [low, high] = std::ranges::minmax(terms_);
    if (__builtin_add_overflow(least_, low, &least_) ||
        __builtin_add_overflow(greatest_, high, &greatest_))
      return false;
    std::vector<int64_t> sums;
    std::sort(terms_.begin(), terms_.end());
    terms_.erase(std::unique(terms_.begin(), terms_.end()), terms_.end());
    few_ = few_ && sums_.size() * terms_.size() <= kMostSteps;
    for (const int64_t sum : few_ ? std::span<const int64_t>(sums_) : std::span<const int64_t>())
      for (const int64_t term : terms_) sums.push_back(sum + term);
    std::sort(sums.begin(), sums.end());
    sums.erase(std::unique(sums.begin(), sums.end()), sums.end());
    few_ = few_ && sums.size() <= kMostSums;
    sums_ = std::move(sums);
    return true;
  }
  bool may_be(int64_t sum) const {
    return sum >= least_ && sum <= greatest_ &&
           (!few_ || std::binary_search(sums_.begin(), sums_.end(), sum));
  }

  // The versions of a key that satisfy a condition or may do so.
  struct OfKey {
    std::vector<VersionId> versions;
    bool open = false;  // one of them may or may not
  };

  const OfKey& of_key(PredicateId where, KeyId key) {
    auto [known, fresh] = of_keys_.try_emplace(where);
    if (fresh) {
      const Predicates& all = h_.predicates();
      for (const VersionId v : all.certain(where))
        known->second[h_.version_key(v)].versions.push_back(v);
      for (const VersionId v : all.open(where)) {
        OfKey& of = known->second[h_.version_key(v)];
        of.versions.push_back(v);
        of.open = true;
      }
    }
    return known->second[key];
  }

  const History& h_;
  const std::vector<bool>& lists_;  // per key: it holds a list
  const std::vector<bool>& tombstone_;
  std::unordered_map<PredicateId, std::unordered_map<KeyId, OfKey>> of_keys_;
  std::vector<int64_t> terms_, sums_;
  bool few_ = true;
  int64_t least_ = 0, greatest_ = 0;
};

// --- version sets that give what was returned

// Of each key one of these versions, or none; all combinations, if they are few.
std::vector<VersionSet> any_version_sets(const History& h, const Evaluation& evaluation,
                                         PredicateId where) {
  constexpr size_t kMostCombinations = 1024;
  std::unordered_map<KeyId, std::vector<VersionId>> of_key;
  for (const VersionId v : h.predicates().certain(where)) of_key[h.version_key(v)].push_back(v);
  std::vector<VersionSet> all = {{}};
  for (const KeyId key : evaluation.keys()) {
    const KeyState* own = evaluation.own(key);
    const size_t without = all.size();
    for (const VersionId v : of_key[key]) {
      if (own != nullptr && own->version != v) continue;
      for (size_t i = 0; i < without; ++i) all.emplace_back(all[i]).push_back(v);
      if (all.size() > kMostCombinations) return {};
    }
  }
  std::erase_if(all, [&](const VersionSet& set) { return evaluation.of(set) != Match::yes; });
  return all;
}

}  // namespace

BadRead impossible_aggregate(const History& h, bool one_state) {
  std::vector<bool> tombstone(h.version_count());
  for (OpId i = 0; i < h.op_count(); ++i)
    if (installs_version(h.op(i)) && install_of(h, i).removes)
      tombstone[install_of(h, i).version] = true;
  const std::vector<bool> lists = keys_with_lists(h);
  PossibleTerms possible(h, lists, tombstone);
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    if (h.status(t) != TxnStatus::committed) continue;
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
      if (!is_range(h.op(i)) || h.selected(i).aggregate == kNone) continue;
      const OpId why = possible.reason(i, one_state);
      if (why != kNone) return {Anomaly::result_set_mismatch, i, why == i ? OpId{kNone} : why};
    }
  }
  return {};
}

namespace {

struct FindsUnexplained : ReplayVisitor {
  const History& h;
  const std::vector<bool> lists = keys_with_lists(h);
  std::vector<OpId> unexplained = {};

  explicit FindsUnexplained(const History& history) : h(history) {}
  bool reads(TxnId t, const KeysHeld& held) {
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i)
      if (is_range(h.op(i)) && is_open(h, i) && Evaluation(h, lists, i).in(held) != Match::yes)
        unexplained.push_back(i);
    return true;
  }
};

// Of registers alone.
struct ExplainsAll : ReplayVisitor {
  const History& h;
  const TouchedKeys keys{h};
  bool explains = true;

  explicit ExplainsAll(const History& history) : h(history) {}
  bool reads(TxnId t, const KeysHeld& held) {
    explains = each_read(
        h, t, held, &keys,
        [&](const Observation& seen, const Held& meets) {
          return !keys.is_list(seen.key) && fits(h, seen, meets.state);
        },
        [](OpId, std::span<const VersionId>, std::span<const VersionId>) { return false; });
    return explains;
  }
};

// The version sets that give what an aggregate returned, of the states before its transaction reads and behind that.
struct FindsVersionSets : ReplayVisitor {
  const Evaluation& evaluation;
  const TxnId reader;
  const size_t most;
  Budget& budget;
  std::vector<VersionSet> before = {}, after = {};  // the nearest last, and first
  bool passed = false;

  FindsVersionSets(const Evaluation& of, TxnId transaction, size_t most_sets, Budget& left)
      : evaluation(of), reader(transaction), most(most_sets), budget(left) {}
  void look(const KeysHeld& held) {
    VersionSet rows;
    if (evaluation.in(held, &rows) != Match::yes) return;
    auto& to = passed ? after : before;
    if (to.empty() || to.back() != rows) to.push_back(std::move(rows));
  }
  bool reads(TxnId t, const KeysHeld&) {
    passed = passed || t == reader;
    return true;
  }
  bool installed(TxnId, const KeysHeld& held) {
    look(held);
    return after.size() < most && !budget.exhausted();
  }
};

}  // namespace

std::vector<OpId> unexplained_aggregates(const History& h, const Order& order) {
  FindsUnexplained visitor(h);
  replay(h, order, visitor);
  std::sort(visitor.unexplained.begin(), visitor.unexplained.end());
  return std::move(visitor.unexplained);
}

bool replays(const History& h, const Order& order) {
  if (h.states_sources()) return false;
  ExplainsAll visitor(h);
  replay(h, order, visitor);
  return visitor.explains;
}

std::vector<VersionSet> version_sets(const History& h, const Order& order, OpId op, size_t most,
                                     Budget& budget) {
  const std::vector<bool> lists = keys_with_lists(h);
  const Evaluation evaluation(h, lists, op);
  FindsVersionSets found(evaluation, h.txn_of(op), most, budget);
  found.look(KeysHeld(h));
  replay(h, order, found);
  const std::vector<VersionSet>&before = found.before, &after = found.after;
  std::vector<VersionSet> all;
  const auto add = [&](const VersionSet& set) {
    if (all.size() < most && std::find(all.begin(), all.end(), set) == all.end())
      all.push_back(set);
  };
  for (size_t i = 0; i < std::max(before.size(), after.size()); ++i) {
    if (i < before.size()) add(before[before.size() - 1 - i]);
    if (i < after.size()) add(after[i]);
  }
  for (const VersionSet& set : any_version_sets(h, evaluation, aggregate_of(h, op).where)) add(set);
  return all;
}

Result<History> with_version_sets(const History& h, const std::map<OpId, VersionSet>& rows) {
  HistoryBuilder builder;
  TxnCopier copier(builder);
  copy_initial(h, builder);
  if (h.absent_is_never_written()) builder.set_absent_is_never_written();
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    copier.begin(h, t);
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
      if (!is_range(h.op(i)) || h.selected(i).aggregate == kNone) {
        copier.operation(h, i);
        continue;
      }
      const KeyBounds bounds = bounds_of(h, i);
      Selected selected = h.selected(i);
      if (const auto set = rows.find(i); set != rows.end())
        selected = {aggregate_of(h, i).where, set->second, {}, {}, true};
      selected.aggregate = kNone;
      copier.range(h, i, bounds.from, bounds.to, selected);
    }
    if (Status s = builder.end_txn(); !s.ok()) return s.error();
  }
  OrderCopier entries;
  for (const KnownOrder& order : h.known_orders())
    builder.known_order(h.key(order.key), entries.of(h, order));
  for (const Event& event : h.events()) builder.event(event.at, event.json, event.complete);
  Result<History> made = std::move(builder).finish();
  if (made.ok()) made->set_clock_drift(h.clock_drift());
  return made;
}

}  // namespace assay::internal
