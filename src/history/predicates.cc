#include "history/predicates.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

namespace assay::internal {
namespace {

constexpr uint64_t kAskEvery = uint64_t{1} << 20;  // bytes
constexpr uint64_t kMostBits = uint64_t{1} << 30;  // for all conditions and versions

Match match_of_row(const Condition& condition, const Row& row) {
  const Truth truth = condition.holds(row);
  if (truth.certainly_true()) return Match::yes;
  return truth.may_be_true() ? Match::open : Match::no;
}

// Bounds of the integers that a column must hold, both inclusive.
struct Bounds {
  std::string_view column;
  int64_t least = std::numeric_limits<int64_t>::min();
  int64_t most = std::numeric_limits<int64_t>::max();
};

// What an integer in the column has to be for the condition to hold; nothing if that is not certain or more than bounds.
std::optional<Bounds> bounds_of(const Condition& c) {
  using Kind = Condition::Kind;
  if (c.kind == Kind::all) {
    std::optional<Bounds> all;
    for (const Condition& part : c.parts) {
      const std::optional<Bounds> one = bounds_of(part);
      if (!one || (all && all->column != one->column)) continue;
      if (!all) all = one;
      all->least = std::max(all->least, one->least);
      all->most = std::min(all->most, one->most);
    }
    return all;
  }
  const bool negated = c.kind == Kind::negation;
  const Condition& of = negated ? c.parts[0] : c;
  const bool compares = of.kind == Kind::equal || of.kind == Kind::less ||
                        of.kind == Kind::at_most || of.kind == Kind::between;
  if (!compares || (negated && (of.kind == Kind::equal || of.kind == Kind::between)))
    return std::nullopt;
  for (const Cell& constant : of.constants)
    if (constant.type != Cell::Type::integer) return std::nullopt;
  Bounds bounds{of.column};
  const int64_t constant = of.constants[0].integer;
  // One too many at the ends of the range is looked at in vain, no more.
  if (of.kind == Kind::equal || of.kind == Kind::between) bounds.least = constant;
  if (of.kind == Kind::equal) bounds.most = constant;
  if (of.kind == Kind::between) bounds.most = of.constants[1].integer;
  if (of.kind == Kind::less || of.kind == Kind::at_most)
    (negated ? bounds.least : bounds.most) = constant;
  return bounds;
}

// The rows of all versions, and the versions by what a column of them holds.
class Table {
 public:
  explicit Table(const History& h) : rows_(h.version_count()) {
    for (VersionId v = 0; v < h.version_count(); ++v) {
      if (h.version_value(v).is_null()) continue;
      rows_[v] = row_of(h.version_value(v));
      all_.push_back(v);
    }
  }

  const Row& row(VersionId v) const { return rows_[v]; }

  // All versions that may satisfy the condition, and perhaps more.
  void candidates(const Condition& condition, std::vector<VersionId>& out) {
    out.clear();
    const std::optional<Bounds> bounds = bounds_of(condition);
    if (!bounds) {
      out = all_;
      return;
    }
    const Column& column = columns_.try_emplace(std::string(bounds->column)).first->second;
    if (!column.sorted) sort(std::string(bounds->column));
    const auto from = std::lower_bound(column.integers.begin(), column.integers.end(),
                                       std::pair(bounds->least, VersionId{0}));
    const auto to = std::upper_bound(column.integers.begin(), column.integers.end(),
                                     std::pair(bounds->most, VersionId{kNone}));
    for (auto at = from; at < to; ++at) out.push_back(at->second);
    out.insert(out.end(), column.others.begin(), column.others.end());
    std::sort(out.begin(), out.end());
  }

 private:
  struct Column {
    std::vector<std::pair<int64_t, VersionId>> integers;
    std::vector<VersionId> others;  // that hold no integer there
    bool sorted = false;
  };

  void sort(const std::string& name) {
    Column& column = columns_[name];
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

  std::vector<Row> rows_;  // per version; empty: null
  std::vector<VersionId> all_;
  std::map<std::string, Column> columns_;
};

std::vector<KeyId> keys_of(const History& history, std::span<const VersionId> certain,
                           std::span<const VersionId> open) {
  std::vector<KeyId> keys;
  for (const std::span<const VersionId> versions : {certain, open})
    for (const VersionId v : versions) keys.push_back(history.version_key(v));
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

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

Status Predicates::index(const History& history, Budget* budget) {
  Table table(history);
  certain_.resize(size());
  open_.resize(size());
  keys_.resize(size());
  std::vector<VersionId> candidates;
  versions_ = history.version_count();
  if (size() * versions_ <= kMostBits) satisfies_.resize(size() * versions_);
  uint64_t unasked = satisfies_.size() / 8;
  for (PredicateId p = 0; p < size(); ++p) {
    initial_.push_back(match_of(conditions_[p], history.initial()));
    table.candidates(conditions_[p], candidates);
    for (const VersionId v : candidates) {
      const Match match = match_of_row(conditions_[p], table.row(v));
      if (match != Match::no) (match == Match::yes ? certain_ : open_)[p].push_back(v);
      if (match == Match::yes && !satisfies_.empty()) satisfies_[p * versions_ + v] = true;
    }
    keys_[p] = keys_of(history, certain_[p], open_[p]);
    unasked += sizeof(VersionId) * (certain_[p].size() + open_[p].size()) +
               sizeof(KeyId) * keys_[p].size();
    if (budget == nullptr || unasked < kAskEvery) continue;
    if (!budget->has_room(std::exchange(unasked, 0)))
      return Error{ErrorKind::budget, budget->reason().detail + " while reading", {}, 0, 0};
  }
  return Ok{};
}

}  // namespace assay::internal
