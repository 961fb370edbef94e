// The value of an expression, and a condition once its parameters are known.
#pragma once

#include <span>

#include "assay/result.h"
#include "collect/sql/file.h"

namespace assay::internal::collect::sql {

// Of an expression without columns. Fails where the result is no 64-bit integer.
Result<Value> evaluate(const Expression& expression, std::span<const Value> parameters);
// Null is not equal to, less than or at least anything.
bool compare(Comparison comparison, const Value& a, const Value& b);

// As the history states it.
Result<Condition> condition_of(const Where& where, const Table& table,
                               std::span<const Value> parameters);
Cell cell_of(const Value& value);

// The value that the primary key must have, if the condition demands one.
const Expression* key_of(const Where& where, const Table& table);
// Whether the condition is on nothing else.
bool is_key_alone(const Where& where, const Table& table);

}  // namespace assay::internal::collect::sql
