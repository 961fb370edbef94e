#include "history/predicates.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "base/ascending.h"
#include "history/accesses.h"

namespace assay::internal {
namespace {

constexpr uint64_t kAskEvery = uint64_t{1} << 20;  // bytes
constexpr uint64_t kMostBits = uint64_t{1} << 30;  // for all conditions and versions

Match match_of_row(const Condition& condition, const Row& row) {
  const Truth truth = condition.holds(row);
  if (truth.certainly_true()) return Match::yes;
  return truth.may_be_true() ? Match::open : Match::no;
}

// Bounds, both inclusive, of the integers that a column may hold.
struct Bounds {
  std::string_view column;
  int64_t least = std::numeric_limits<int64_t>::min();
  int64_t most = std::numeric_limits<int64_t>::max();
  bool exact = true;  // every integer within them satisfies the condition
};

// The bounds of a comparison with integers, or of its negation; nullopt for `in`, `like`, and if
// the negation is not one interval.
std::optional<Bounds> bounds_of_comparison(const Condition& c, bool negated) {
  using Kind = Condition::Kind;
  for (const Cell& constant : c.constants)
    if (constant.type != Cell::Type::integer) return std::nullopt;
  if (negated ? c.kind != Kind::less && c.kind != Kind::at_most
              : c.kind != Kind::equal && c.kind != Kind::less && c.kind != Kind::at_most &&
                    c.kind != Kind::between)
    return std::nullopt;
  Bounds bounds{c.column};
  const int64_t constant = c.constants[0].integer;
  const bool strict = (c.kind == Kind::less) != negated;  // c < k, and not c <= k
  if (strict && constant == (negated ? bounds.most : bounds.least)) return std::nullopt;
  if (negated)
    bounds.least = constant + (strict ? 1 : 0);
  else if (c.kind == Kind::equal || c.kind == Kind::between)
    bounds.least = constant;
  if (c.kind == Kind::between)
    bounds.most = c.constants[1].integer;
  else if (!negated)
    bounds.most = constant - (strict ? 1 : 0);
  return bounds;
}

// Bounds that an integer in the column must satisfy for the condition to hold; nullopt if there are
// none for certain.
std::optional<Bounds> bounds_of(const Condition& c) {
  using Kind = Condition::Kind;
  if (c.kind == Kind::negation) return bounds_of_comparison(c.parts[0], true);
  if (c.kind != Kind::all) return bounds_of_comparison(c, false);
  std::optional<Bounds> all;
  bool exact = true;
  for (const Condition& part : c.parts) {
    const std::optional<Bounds> one = bounds_of(part);
    exact = exact && one && one->exact && (!all || all->column == one->column);
    if (!one || (all && all->column != one->column)) continue;
    if (!all) all = one;
    all->least = std::max(all->least, one->least);
    all->most = std::min(all->most, one->most);
  }
  if (all) all->exact = exact;
  return all;
}

// Per version whether a write left it, and whether a deletion did.
std::array<std::vector<bool>, 2> installed_versions(const History& h) {
  std::array<std::vector<bool>, 2> installed;
  for (std::vector<bool>& versions : installed) versions.resize(h.version_count());
  for (OpId i = 0; i < h.op_count(); ++i)
    if (installs_version(h.op(i))) installed[install_of(h, i).removes][h.op(i).version] = true;
  return installed;
}

// The rows of all versions, and the versions sorted by what a column of their rows holds.
class Table {
 public:
  explicit Table(const History& h) : rows_(h.version_count()) {
    // A version left only by deletions is not a row, whatever its name.
    const auto [written, deleted] = installed_versions(h);
    for (VersionId v = 0; v < h.version_count(); ++v) {
      if (h.version_value(v).is_null() || (deleted[v] && !written[v] && !h.is_initial(v))) continue;
      rows_[v] = row_of(h.version_value(v));
      all_.push_back(v);
    }
  }

  const Row& row(VersionId v) const { return rows_[v]; }

  // Puts versions that satisfy the condition into `certain`, and into `maybe` all others that may
  // satisfy it, and perhaps more.
  void candidates(const Condition& condition, std::vector<VersionId>& certain,
                  std::vector<VersionId>& maybe) {
    certain.clear();
    maybe.clear();
    const std::optional<Bounds> bounds = bounds_of(condition);
    if (!bounds) {
      maybe = all_;
      return;
    }
    Column& column = columns_.try_emplace(std::string(bounds->column)).first->second;
    if (!column.sorted) sort(column, bounds->column);
    const auto from = std::lower_bound(column.integers.begin(), column.integers.end(),
                                       std::pair(bounds->least, VersionId{0}));
    const auto to = std::upper_bound(column.integers.begin(), column.integers.end(),
                                     std::pair(bounds->most, VersionId{kNone}));
    for (auto at = from; at < to; ++at) (bounds->exact ? certain : maybe).push_back(at->second);
    maybe.insert(maybe.end(), column.others.begin(), column.others.end());
  }

 private:
  struct Column {
    std::vector<std::pair<int64_t, VersionId>> integers;
    std::vector<VersionId> others;  // versions that hold no integer in the column
    bool sorted = false;
  };

  void sort(Column& column, std::string_view name) {
    column.sorted = true;
    for (const VersionId v : all_) {
      const auto cell = std::find_if(rows_[v].begin(), rows_[v].end(),
                                     [&](const auto& c) { return c.first == name; });
      if (cell != rows_[v].end() && cell->second.type == Cell::Type::integer)
        column.integers.emplace_back(cell->second.integer, v);
      else
        column.others.push_back(v);
    }
    std::sort(column.integers.begin(), column.integers.end());
  }

  std::vector<Row> rows_;  // indexed by version; empty: null
  std::vector<VersionId> all_;
  std::map<std::string, Column> columns_;
};

}  // namespace

Match match_of(const Condition& condition, const ValueView& value) {
  return value.is_null() ? Match::no : match_of_row(condition, row_of(value));
}

Result<PredicateId> Predicates::intern(std::string_view text) {
  const auto next = static_cast<PredicateId>(conditions_.size());
  if (const auto known = by_text_.find(std::string(text)); known != by_text_.end())
    return known->second;
  Result<Condition> condition = parse_condition(text);
  if (!condition.ok()) return condition.error();
  std::string printed = condition->to_string();
  const PredicateId id = by_text_.try_emplace(printed, next).first->second;
  by_text_.emplace(text, id);
  if (id == next) {
    conditions_.push_back(std::move(*condition));
    texts_.push_back(std::move(printed));
  }
  return id;
}

Result<uint32_t> Predicates::intern(const Op& query) {
  const AggregateFunction function = *query.aggregate;
  const ValueView& returned = query.expected;
  if (!may_return(function, returned))
    return bad_input(std::string(aggregate_name(function)) + " returned " + returned.to_string() +
                     "; expected " + std::string(wanted_of(function)));
  const Result<PredicateId> where = intern(*query.where);
  if (!where.ok()) return where.error();
  Aggregate made{.function = function, .where = *where};
  if (function != AggregateFunction::count) made.column = query.column;
  made.value = row_of(returned.is_null() ? ValueView::of(0) : returned)[0].second;
  if (returned.is_null()) made.value = {};
  std::string text = std::string(aggregate_name(function)) + '(' + made.column +
                     ") = " + row_text({{"value", made.value}}) + " where " + texts_[*where];
  const auto [known, fresh] =
      aggregate_by_text_.try_emplace(text, static_cast<uint32_t>(aggregates_.size()));
  if (!fresh) return known->second;
  const AggregateClaim claim = claim_of(function, made.column, texts_[*where], returned);
  made.claim = *intern(claim.where);
  made.complete = claim.complete;
  if (!claim.including.empty()) made.including = *intern(claim.including);
  aggregates_.push_back(std::move(made));
  aggregate_texts_.push_back(std::move(text));
  return known->second;
}

Op Predicates::query(uint32_t a, ValueView lo, ValueView hi) const {
  const Aggregate& known = aggregates_[a];
  return Op::aggregated(lo, hi, texts_[known.where], known.function, known.column,
                        value_of(known.value));
}

std::vector<VersionId> Predicates::only_versions(const History& history) const {
  std::vector<VersionId> only(aggregates_.size(), kNone);
  if (only.empty()) return only;
  auto [written, deleted] = installed_versions(history);
  for (KeyId k = 0; k < history.key_count(); ++k)
    if (const VersionId own = history.own_initial(k); own != kNone) written[own] = true;
  for (uint32_t a = 0; a < only.size(); ++a) {
    const VersionId one = only_version(history, aggregates_[a], written);
    if (one != kNone && !deleted[one]) only[a] = one;  // a deletion would show as the row, too
  }
  return only;
}

VersionId Predicates::only_version(const History& history, const Aggregate& known,
                                   const std::vector<bool>& written) const {
  if (known.including == kNone || match_initial(known.including) != Match::no) return kNone;
  VersionId only = kNone;
  for (const VersionId v : certain_[known.including]) {
    const AggregateTerm term = term_of(known, Match::yes, row_of(history.version_value(v)));
    if (!written[v] || term.integer != known.value.integer) continue;
    if (only != kNone) return kNone;
    only = v;
  }
  const auto& open = open_[known.including];
  const bool certain =
      std::none_of(open.begin(), open.end(), [&](VersionId v) { return written[v]; });
  return certain ? only : kNone;
}

Status Predicates::index(const History& history, Budget* budget) {
  Table table(history);
  certain_.resize(size());
  open_.resize(size());
  keys_.resize(size());
  std::vector<VersionId> maybe;
  versions_ = history.version_count();
  Ascending versions(versions_), keys(history.key_count());
  if (size() * versions_ <= kMostBits) satisfies_.resize(size() * versions_);
  uint64_t unasked = satisfies_.size() / 8;
  for (PredicateId p = 0; p < size(); ++p) {
    initial_.push_back(match_of(conditions_[p], history.initial()));
    matches_initially_.push_back(initial_.back() != Match::no);
    table.candidates(conditions_[p], certain_[p], maybe);
    for (const VersionId v : maybe) {
      const Match match = match_of_row(conditions_[p], table.row(v));
      if (match != Match::no) (match == Match::yes ? certain_ : open_)[p].push_back(v);
    }
    versions.sort(certain_[p]);
    versions.sort(open_[p]);
    if (!satisfies_.empty())
      for (const VersionId v : certain_[p]) satisfies_[p * versions_ + v] = true;
    std::vector<KeyId> named;
    for (const auto* matching : {&certain_[p], &open_[p]})
      for (const VersionId v : *matching) named.push_back(history.version_key(v));
    keys.sort(named);
    keys_[p] = named;
    for (const KeyId key : keys_[p]) {
      const VersionId own = history.own_initial(key);
      if (own != kNone && match(p, own) != Match::no) matches_initially_[p] = true;
    }
    unasked += sizeof(VersionId) * (certain_[p].size() + open_[p].size()) +
               sizeof(KeyId) * keys_[p].size();
    if (budget == nullptr || unasked < kAskEvery) continue;
    if (!budget->has_room(std::exchange(unasked, 0)))
      return Error{ErrorKind::budget, budget->reason().detail + " while reading", {}, 0, 0};
  }
  return Ok{};
}

bool may_skip_any_version(const History& history) {
  if (!history.has_predicates()) return false;
  std::vector<KeyId> written;  // ascending
  std::vector<bool> asked(history.predicates().size(), false);
  std::vector<bool> is_written(history.key_count(), false);
  for (OpId i = 0; i < history.op_count(); ++i) {
    if (installs_version(history.op(i))) is_written[history.op(i).key] = true;
    if (!is_range(history.op(i))) continue;
    const Selected selected = history.selected(i);
    if (selected.predicate != kNone && selected.complete) asked[selected.predicate] = true;
  }
  for (KeyId key = 0; key < history.key_count(); ++key)
    if (is_written[key]) written.push_back(key);
  // The cost is bounded by the keys that satisfy conditions: all written keys are looked at only if
  // each of them satisfies the condition.
  for (PredicateId p = 0; p < asked.size(); ++p)
    if (asked[p] && history.predicates().match_initial(p) == Match::no &&
        !std::ranges::includes(history.predicates().keys(p), written))
      return true;
  if (!history.has_own_initial()) return false;
  // Keys whose initial value is not that of every other key.
  for (PredicateId p = 0; p < asked.size(); ++p)
    for (const KeyId key : written)
      if (asked[p] && history.own_initial(key) != kNone &&
          !std::ranges::binary_search(history.predicates().keys(p), key))
        return true;
  return false;
}

}  // namespace assay::internal
