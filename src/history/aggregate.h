// Aggregates: what count(*), sum, min and max compute of the rows that satisfy a condition.
//
//   x = 5   y = 7   z = 20        count(value < 10) = 2   sum = 12   min = 5   max = 7
//
// What an aggregate says for certain of rows is its claim, a query with a condition as any other:
//
//   count 0                no row satisfies the condition
//   null                   none that does has anything but null in the column
//   min m, max m           none that does has less, or more, than m in the column; where one
//                          version alone has m there, the query returned it
//   any other count, sum   nothing: which rows were there is open, and so is the aggregate
//                          (is_open)
//
// Of integers alone is anything certain: what other types add up to, and how texts are ordered,
// depends on the database.
//
// Cost: a row is added in the time of its columns.
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
  PredicateId where = kNone;  // of the rows
  Cell value = {};            // integer, string or null
  PredicateId claim = kNone;  // its certain statement about rows:
  bool complete = false;      // whether it says that there are none
  PredicateId including =
      kNone;  // min, max: the condition of the claim if a row has the value itself
};

// "count", "sum", …
std::string_view aggregate_name(AggregateFunction function);
// Whether that is the name of one.
bool is_aggregate_name(std::string_view name, AggregateFunction& function);
// Whether it can have returned the value, and the expected value in words.
bool may_return(AggregateFunction function, const ValueView& value);
std::string_view wanted_of(AggregateFunction function);
ValueView value_of(const Cell& cell);

// The conditions of an aggregate's claim. `including` is empty where it makes no sense.
struct AggregateClaim {
  std::string where, including;
  bool complete = false;
};
AggregateClaim claim_of(AggregateFunction function, std::string_view column, std::string_view where,
                        const ValueView& value);

// A row's contribution to an aggregate: an integer, nothing, or unknown.
struct AggregateTerm {
  enum class Kind : uint8_t { nothing, integer, open };
  Kind kind = Kind::nothing;
  int64_t integer = 0;
  friend bool operator==(const AggregateTerm&, const AggregateTerm&) = default;
};
AggregateTerm term_of(const Aggregate& aggregate, Match match, const Row& row);

// Whether a range is an aggregate that may have looked at rows of which its claim says nothing, as
// a maximum does at smaller ones. Which versions of their keys it saw is open then.
bool looks_at_more(const History& history, OpId range);
// Whether, moreover, the claim does not say everything that the aggregate does.
bool is_open(const History& history, OpId range);
bool has_open_aggregates(const History& history);

// "count(*) where value < 10" and "sum(v) where …", as it is printed.
std::string in_words(const History& history, const Aggregate& aggregate);

}  // namespace assay::internal
