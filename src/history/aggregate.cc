#include "history/aggregate.h"

#include <algorithm>
#include <array>

#include "history/predicates.h"

namespace assay::internal {
namespace {

constexpr std::array<std::string_view, 4> kAggregateNames = {"count", "sum", "min", "max"};

std::string quoted_column(std::string_view column) {
  std::string out = "\"";
  for (const char c : column) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

}  // namespace

std::string_view aggregate_name(AggregateFunction function) {
  return kAggregateNames[static_cast<size_t>(function)];
}

bool is_aggregate_name(std::string_view name, AggregateFunction& function) {
  const auto at = std::find(kAggregateNames.begin(), kAggregateNames.end(), name);
  if (at == kAggregateNames.end()) return false;
  function = static_cast<AggregateFunction>(at - kAggregateNames.begin());
  return true;
}

bool may_return(AggregateFunction function, const ValueView& value) {
  using Type = ValueView::Type;
  switch (function) {
    case AggregateFunction::count:
      return value.type == Type::integer && value.integer >= 0;
    case AggregateFunction::sum:
      return value.type == Type::integer || value.is_null();
    case AggregateFunction::min:
    case AggregateFunction::max:
      break;
  }
  return value.type != Type::row;
}

std::string_view wanted_of(AggregateFunction function) {
  if (function == AggregateFunction::count) return "a number of rows, 0 or more";
  if (function == AggregateFunction::sum) return "an integer of 64 bits, or null";
  return "an integer of 64 bits, a string, or null";
}

ValueView value_of(const Cell& cell) {
  if (cell.type == Cell::Type::integer) return ValueView::of(cell.integer);
  if (cell.type == Cell::Type::string) return ValueView::of(std::string_view(cell.text));
  return ValueView::null();
}

AggregateClaim claim_of(AggregateFunction function, std::string_view column, std::string_view where,
                        const ValueView& value) {
  const std::string all(where);
  const auto that_have = [&](const std::string& more) {
    const std::string cell = quoted_column(column) + more;
    return all.empty() ? cell : "(" + all + ") and " + cell;
  };
  if (function == AggregateFunction::count) return {all, {}, value.integer == 0};
  if (value.is_null()) return {that_have(" is not null"), {}, true};
  const bool least = function == AggregateFunction::min;
  if (function == AggregateFunction::sum || value.type != ValueView::Type::integer)
    return {all, {}, false};
  const std::string integer = " " + std::to_string(value.integer);
  return {that_have((least ? " <" : " >") + integer), that_have((least ? " <=" : " >=") + integer),
          true};
}

AggregateTerm term_of(const Aggregate& aggregate, Match match, const Row& row) {
  using Kind = AggregateTerm::Kind;
  if (match == Match::no) return {};
  if (match == Match::open) return {Kind::open};
  if (aggregate.function == AggregateFunction::count) return {Kind::integer, 1};
  const auto cell = std::find_if(row.begin(), row.end(),
                                 [&](const auto& c) { return c.first == aggregate.column; });
  if (cell == row.end()) return {Kind::open};
  if (cell->second.type == Cell::Type::null) return {};
  if (cell->second.type != Cell::Type::integer) return {Kind::open};
  return {Kind::integer, cell->second.integer};
}

bool looks_at_more(const History& history, OpId range) {
  const Selected selected = history.selected(range);
  if (selected.aggregate == kNone) return false;
  const Aggregate& aggregate = history.predicates().aggregate(selected.aggregate);
  const bool of_no_row =
      aggregate.function == AggregateFunction::count || aggregate.value.type == Cell::Type::null;
  return !selected.complete || !of_no_row;
}

bool is_open(const History& history, OpId range) {
  const Selected selected = history.selected(range);
  return looks_at_more(history, range) && (!selected.complete || selected.rows.empty());
}

bool has_open_aggregates(const History& history) {
  if (!history.has_predicates() || history.predicates().aggregate_count() == 0) return false;
  for (TxnId t = 0; t < history.txn_count(); ++t)
    for (OpId i = history.first_op(t); i < history.end_op(t); ++i)
      if (history.status(t) != TxnStatus::aborted && history.op(i).kind == OpKind::range &&
          is_open(history, i))
        return true;
  return false;
}

std::string in_words(const History& history, const Aggregate& aggregate) {
  std::string out(aggregate_name(aggregate.function));
  out += aggregate.column.empty() ? "(*)" : "(" + aggregate.column + ")";
  const std::string& where = history.predicates().text(aggregate.where);
  return where.empty() ? out : out + " where " + where;
}

}  // namespace assay::internal
