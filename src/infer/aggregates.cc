#include "infer/aggregates.h"

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include "history/accesses.h"
#include "history/aggregate.h"
#include "history/predicates.h"
#include "infer/replay.h"

namespace assay::internal {
namespace {

const Aggregate& aggregate_of(const History& h, OpId op) {
  return h.predicates().aggregate(h.selected(op).aggregate);
}

std::vector<bool> keys_with_lists(const History& h) {
  std::vector<bool> lists(h.key_count());
  for (OpId i = 0; i < h.op_count(); ++i)
    if (is_list_operation(h.op(i))) lists[h.op(i).key] = true;
  return lists;
}

}  // namespace

AggregateTerms::AggregateTerms(const History& h, const std::vector<bool>& lists, OpId op)
    : h_(&h),
      op_(op),
      aggregate_(&aggregate_of(h, op)),
      decidable_(h.predicates().match_initial(aggregate_->where) == Match::no &&
                 aggregate_->value.type == Cell::Type::integer) {
  for (const KeyId key : h.predicates().keys(aggregate_->where)) {
    if (!is_within(h, op, key)) continue;
    keys_.push_back(key);
    decidable_ = decidable_ && !lists[key];
  }
  for (OpId i = h.first_op(h.txn_of(op)); i < op; ++i)
    if (installs_version(h.op(i))) own_[h.op(i).key] = install_of(h, i).state();
}

const KeyState* AggregateTerms::own(KeyId key) const {
  const auto found = own_.find(key);
  return found == own_.end() ? nullptr : &found->second;
}

AggregateTerm AggregateTerms::left(TxnId writer, KeyId key) const {
  if (const KeyState* before = own(key)) return term(*before);
  return term(writer == kNone ? initial_state(*h_, key) : state_left_by(*h_, writer, key));
}

AggregateTerm AggregateTerms::term(const KeyState& state) const {
  return state.version == kNone || is_absent(*h_, state) ? AggregateTerm() : term(state.version);
}

AggregateTerm AggregateTerms::term(VersionId version) const {
  const Match match = h_->predicates().match(aggregate_->where, version);
  return match == Match::no ? AggregateTerm()
                            : term_of(*aggregate_, match, row_of(h_->version_value(version)));
}

AggregateTerms::Total AggregateTerms::total(std::span<const AggregateTerm> terms) const {
  Total total;
  for (const AggregateTerm& term : terms) {
    if (term.kind == AggregateTerm::Kind::nothing) continue;
    total.open = total.open || term.kind == AggregateTerm::Kind::open;
    if (total.rows++ == 0)
      total.value = term.integer;
    else if (aggregate_->function == AggregateFunction::min)
      total.value = std::min(total.value, term.integer);
    else if (aggregate_->function == AggregateFunction::max)
      total.value = std::max(total.value, term.integer);
    else  // if a sum overflows 64 bits on the way, the database decides
      total.open |= __builtin_add_overflow(total.value, term.integer, &total.value);
  }
  return total;
}

Match AggregateTerms::given(std::span<const AggregateTerm> terms) const {
  const Total total = this->total(terms);
  if (!decidable_ || total.open) return Match::open;
  if (total.rows == 0 && aggregate_->function != AggregateFunction::count) return Match::no;
  return aggregate_->value.integer == total.value ? Match::yes : Match::no;
}

bool AggregateTerms::may_mend(std::span<const AggregateTerm> terms, const AggregateTerm& term,
                              const AggregateTerm& other) const {
  using Kind = AggregateTerm::Kind;
  if (other.kind == Kind::open) return true;
  const int64_t wanted = aggregate_->value.integer;
  const Total total = this->total(terms);
  if (aggregate_->function == AggregateFunction::min ||
      aggregate_->function == AggregateFunction::max) {
    const auto is_beyond = [&](const AggregateTerm& t) {
      const bool least = aggregate_->function == AggregateFunction::min;
      return t.kind == Kind::integer && (least ? t.integer < wanted : t.integer > wanted);
    };
    if (std::ranges::any_of(terms, is_beyond)) return is_beyond(term) && !is_beyond(other);
    return other.kind == Kind::integer && other.integer == wanted;
  }
  if (total.value == wanted) return other.kind == Kind::integer;  // a sum of no rows is null
  const auto added = [](const AggregateTerm& t) { return t.kind == Kind::nothing ? 0 : t.integer; };
  return total.value < wanted ? added(other) > added(term) : added(other) < added(term);
}

namespace {

// --- results that no version set gives

// The versions a key may have had where an aggregate was computed: one, or any.
class PossibleTerms {
 public:
  PossibleTerms(const History& h, const std::vector<bool>& lists,
                const std::vector<bool>& tombstone)
      : h_(h), lists_(lists), tombstone_(tombstone) {}

  // The operation that shows why no versions give the result: one of the transaction's other reads
  // if these are needed, else the aggregate itself. kNone if some versions may give it.
  OpId reason(OpId op, bool one_state) {
    const Aggregate& aggregate = aggregate_of(h_, op);
    if (aggregate.value.type != Cell::Type::integer ||
        h_.predicates().match_initial(aggregate.where) != Match::no)
      return kNone;
    const AggregateTerms evaluation(h_, lists_, op);
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
  // What the transaction saw of a key that it had not written: a version, or kNone if nothing that
  // adds to the aggregate.
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
          if (skips_rows(i, key, aggregate_of(h_, op).where)) add(key, kNone, i);
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
  // Whether a query without a condition, or with the aggregate's, shows that the key has no such
  // row. If a version of the key may or may not satisfy the condition, the query and the aggregate
  // need not agree on it.
  bool skips_rows(OpId range, KeyId key, PredicateId where) {
    const Selected selected = h_.selected(range);
    if (selected.aggregate != kNone || !selected.complete || !is_within(h_, range, key))
      return false;
    if (selected.predicate != kNone && (selected.predicate != where || of_key(where, key).open))
      return false;
    return std::ranges::find(selected.matched, key) == selected.matched.end() &&
           std::ranges::none_of(selected.rows,
                                [&](VersionId v) { return h_.version_key(v) == key; });
  }

  // Finds what the key can add, apart from nothing. False if that is open.
  bool find_terms(const AggregateTerms& evaluation, KeyId key, std::optional<VersionId> only) {
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

  // --- the possible sums over the keys so far: all of them if they are few

  static constexpr size_t kMostSums = 4096, kMostSteps = size_t{1} << 20;

  void begin() {
    sums_ = {0};
    few_ = true;
    least_ = greatest_ = 0;
  }
  // Returns false if a sum overflows 64 bits.
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

  // The versions of a key that satisfy a condition or may satisfy it.
  struct OfKey {
    std::vector<VersionId> versions;
    bool open = false;  // one of them may or may not satisfy it
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
  const std::vector<bool>& lists_;  // indexed by key: whether it holds a list
  const std::vector<bool>& tombstone_;
  std::unordered_map<PredicateId, std::unordered_map<KeyId, OfKey>> of_keys_;
  std::vector<int64_t> terms_, sums_;
  bool few_ = true;
  int64_t least_ = 0, greatest_ = 0;
};

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
      if (is_range(h.op(i)) && is_open(h, i) && !explains(AggregateTerms(h, lists, i), held))
        unexplained.push_back(i);
    return true;
  }
  static bool explains(const AggregateTerms& aggregate, const KeysHeld& held) {
    std::vector<AggregateTerm> terms;
    for (const KeyId key : aggregate.keys()) terms.push_back(aggregate.left(held[key].writer, key));
    return aggregate.given(terms) == Match::yes;
  }
};

// Only for histories whose keys are registers.
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

std::vector<AggregateTerms> decidable_aggregates(const History& h, std::span<const OpId> all) {
  const std::vector<bool> lists = keys_with_lists(h);
  std::vector<AggregateTerms> decidable;
  for (const OpId op : all)
    if (AggregateTerms terms(h, lists, op); terms.is_decidable())
      decidable.push_back(std::move(terms));
  return decidable;
}

}  // namespace assay::internal
