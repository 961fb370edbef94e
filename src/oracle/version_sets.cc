#include "oracle/version_sets.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "history/copy.h"
#include "history/predicates.h"
#include "oracle/conditions.h"

namespace assay::internal::oracle {
namespace {

constexpr size_t kMostSets = 4096;       // sets of versions, for one aggregate
constexpr size_t kMostHistories = 1024;  // for all of them together

using Rows = std::vector<VersionId>;
// A row that was never written; it stands for an aggregate that no set of versions gives.
constexpr std::string_view kUnwrittenRow = "a row that no transaction wrote";

struct AggregateRows {
  OpId op;
  std::vector<Rows> rows;  // one of them is returned; none: nothing explains it
};

// Returns the integer in a column; nullopt for null, and sets `open` if the column holds something
// else.
std::optional<int64_t> integer_in(const Row& row, const std::string& column, bool& open) {
  for (const auto& [name, cell] : row) {
    if (name != column) continue;
    open = open || cell.type == Cell::Type::string || cell.type == Cell::Type::other;
    if (cell.type == Cell::Type::integer) return cell.integer;
    return std::nullopt;
  }
  open = true;
  return std::nullopt;
}

bool gives(const History& h, const Rows& rows, const Aggregate& aggregate, bool& open) {
  const Cell& seen = aggregate.value;
  if (aggregate.function == AggregateFunction::count)
    return static_cast<int64_t>(rows.size()) == seen.integer;
  std::vector<int64_t> values;
  for (const VersionId v : rows)
    if (const auto i = integer_in(row_of(h.version_value(v)), aggregate.column, open))
      values.push_back(*i);
  if (values.empty() || seen.type != Cell::Type::integer)
    return values.empty() && seen.type == Cell::Type::null;
  int64_t result = values[0];
  for (size_t i = 1; i < values.size(); ++i) {
    if (aggregate.function == AggregateFunction::sum) result += values[i];
    if (aggregate.function == AggregateFunction::min) result = std::min(result, values[i]);
    if (aggregate.function == AggregateFunction::max) result = std::max(result, values[i]);
  }
  return result == seen.integer;
}

// Returns, per key within the bounds, the versions that were initial or written, and that may
// satisfy the condition.
std::map<KeyId, std::set<VersionId>> selected_versions(const History& h, OpId range,
                                                       const Condition& where) {
  const auto bounds = h.operands(range).first(2);
  std::map<KeyId, std::set<VersionId>> found;
  for (OpId i = 0; i < h.op_count(); ++i) {
    const Operation op = h.op(i);
    if (!installs_version(op) || op.kind == OpKind::remove) continue;
    if (bounds[0] != kNone && key_less(h.key(op.key), h.key(bounds[0]))) continue;
    if (bounds[1] != kNone && key_less(h.key(bounds[1]), h.key(op.key))) continue;
    if (condition_match(where, h.version_value(op.version)) != Match::no)
      found[op.key].insert(op.version);
  }
  for (KeyId key = 0; key < h.key_count(); ++key) {
    const bool above = bounds[0] == kNone || !key_less(h.key(key), h.key(bounds[0]));
    const bool below = bounds[1] == kNone || !key_less(h.key(bounds[1]), h.key(key));
    const VersionId own = h.own_initial(key);
    if (own != kNone && above && below && condition_match(where, h.version_value(own)) != Match::no)
      found[key].insert(own);
  }
  return found;
}

// Finds every set of versions that gives what the aggregate returned. False if there are too many.
bool find_rows(const History& h, AggregateRows& choice) {
  const Aggregate& aggregate = h.predicates().aggregate(h.selected(choice.op).aggregate);
  const Condition& where = h.predicates().condition(aggregate.where);
  if (condition_match(where, h.initial()) != Match::no) return false;
  std::vector<Rows> sets = {{}};
  const auto selected = selected_versions(h, choice.op, where);
  for (const auto& [key, versions] : selected) {
    const size_t without = sets.size();
    for (const VersionId v : versions)
      for (size_t s = 0; s < without; ++s) sets.emplace_back(sets[s]).push_back(v);
    if (sets.size() > kMostSets) return false;
  }
  // A deletion shows its tombstone as a row, but adds nothing to the aggregate.
  for (OpId i = 0; i < h.op_count(); ++i)
    for (const auto& [key, versions] : selected)
      if (h.op(i).kind == OpKind::remove && versions.contains(h.op(i).version)) return false;
  bool open = false;
  for (Rows& rows : sets)
    if (gives(h, rows, aggregate, open)) choice.rows.push_back(std::move(rows));
  return !open;
}

// Returns the history with the rows that `chosen` names, for each choice, in place of aggregates.
History with_rows(const History& h, const std::vector<AggregateRows>& choices,
                  const std::vector<size_t>& chosen) {
  HistoryBuilder builder;
  TxnCopier copier(builder);
  copy_settings(h, builder);
  size_t next = 0;
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    copier.begin(h, t);
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
      if (next == choices.size() || choices[next].op != i) {
        copier.operation(h, i);
        continue;
      }
      const AggregateRows& choice = choices[next];
      const auto bounds = h.operands(i).first(2);
      const auto name = [&](KeyId k) { return k == kNone ? ValueView::null() : h.key(k); };
      std::vector<std::pair<ValueView, ValueView>> rows;
      if (choice.rows.empty())
        rows.emplace_back(ValueView::of(kUnwrittenRow), ValueView::of(0));
      else
        for (const VersionId v : choice.rows[chosen[next]])
          rows.emplace_back(h.key(h.version_key(v)), h.version_value(v));
      const Aggregate& aggregate = h.predicates().aggregate(h.selected(i).aggregate);
      builder.add(
          Op::select(name(bounds[0]), name(bounds[1]), h.predicates().text(aggregate.where), rows));
      ++next;
    }
    const Status ended = builder.end_txn();
    assert(ended.ok());
  }
  OrderCopier entries;
  for (const KnownOrder& order : h.known_orders())
    builder.known_order(h.key(order.key), entries.of(h, order));
  for (const Event& event : h.events()) builder.event(event.at, event.json, event.complete);
  Result<History> made = std::move(builder).finish();
  assert(made.ok());
  made->assume_as(h);
  return std::move(*made);
}

}  // namespace

bool has_aggregates(const History& history) {
  return history.has_predicates() && history.predicates().aggregate_count() > 0;
}

std::optional<std::vector<History>> with_rows_returned(const History& h) {
  std::vector<AggregateRows> choices;
  size_t histories = 1;
  for (OpId i = 0; i < h.op_count(); ++i) {
    if (h.op(i).kind != OpKind::range || h.selected(i).aggregate == kNone) continue;
    if (!find_rows(h, choices.emplace_back(AggregateRows{i, {}}))) return std::nullopt;
    histories *= std::max<size_t>(1, choices.back().rows.size());
    if (histories > kMostHistories) return std::nullopt;
  }
  std::vector<History> all;
  std::vector<size_t> chosen(choices.size(), 0);
  for (size_t made = 0; made < histories; ++made) {
    all.push_back(with_rows(h, choices, chosen));
    for (size_t c = 0; c < choices.size(); ++c) {  // the next combination
      if (++chosen[c] < choices[c].rows.size()) break;
      chosen[c] = 0;
    }
  }
  return all;
}

}  // namespace assay::internal::oracle
