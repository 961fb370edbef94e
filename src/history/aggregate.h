// Aggregates: what count(*), sum, min and max compute of the rows that satisfy a condition.
//
//   x = 5   y = 7   z = 20        count(value < 10) = 2   sum = 12   min = 5   max = 7
//
// What an aggregate says for certain about rows is its claim, which is a query with a condition
// like any other:
//
//   count 0                no row satisfies the condition
//   null                   no row that satisfies it has anything but null in the column
//   min m, max m           no row that does has less, or more, than m in the column; if one
//                          version alone has m there, the query returned it
//   any other count, sum   nothing: which rows were there is open, and so is the aggregate
//                          (is_open)
//
// Only about integers is anything certain: what other types add up to, and how texts are ordered,
// depends on the database.
//
// Cost: adding a row takes time linear in its columns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "assay/history.h"
#include "history/condition.h"

namespace assay::internal {

struct Aggregate {
  AggregateFunction function = AggregateFunction::count;
  std::string column = {};    // count: empty
  PredicateId where = kNone;  // which rows it is computed from
  Cell value = {};            // integer, string or null
  PredicateId claim = kNone;  // what it says for certain about rows:
  bool complete = false;      // whether the claim says that there are no other such rows
  PredicateId including =
      kNone;  // min, max: the condition of the claim if a row has exactly the returned value
};

// "count", "sum", …
std::string_view aggregate_name(AggregateFunction function);
// Whether this is the name of an aggregate.
bool is_aggregate_name(std::string_view name, AggregateFunction& function);
// Whether the function can have returned the value, and the expected value in words.
bool may_return(AggregateFunction function, const ValueView& value);
std::string_view wanted_of(AggregateFunction function);
ValueView value_of(const Cell& cell);

// The conditions of an aggregate's claim. `including` is empty for aggregates other than min and
// max.
struct AggregateClaim {
  std::string where, including;
  bool complete = false;
};
AggregateClaim claim_of(AggregateFunction function, std::string_view column, std::string_view where,
                        const ValueView& value);

// What a row adds to an aggregate: an integer, nothing, or something unknown.
struct AggregateTerm {
  enum class Kind : uint8_t { nothing, integer, open };
  Kind kind = Kind::nothing;
  int64_t integer = 0;
  friend bool operator==(const AggregateTerm&, const AggregateTerm&) = default;
};
AggregateTerm term_of(const Aggregate& aggregate, Match match, const Row& row);

// Whether a range is an aggregate that may have looked at rows about which its claim says nothing,
// as a maximum does at smaller ones. Then it is open which versions of their keys it saw.
bool looks_at_more(const History& history, OpId range);
// Whether, moreover, the claim says less than the aggregate does.
bool is_open(const History& history, OpId range);
bool has_open_aggregates(const History& history);

// "count(*) where value < 10" and "sum(v) where …", as printed.
std::string in_words(const History& history, const Aggregate& aggregate);

}  // namespace assay::internal
