// The value of an expression, and a condition once its parameters are known.
#pragma once

#include <span>

#include "assay/result.h"
#include "collect/sql/file.h"

namespace assay::internal::collect::sql {

// The value of an expression without columns. Fails if the result is not a 64-bit integer.
Result<Value> evaluate(const Expression& expression, std::span<const Value> parameters);
// Compares two values. Null is not equal to, less than or at least anything.
bool compare(Comparison comparison, const Value& a, const Value& b);

// The condition as the history states it.
Result<Condition> condition_of(const Where& where, const Table& table,
                               std::span<const Value> parameters);
Cell cell_of(const Value& value);

// The value that the condition requires of the primary key; null if it requires none.
const Expression* key_of(const Where& where, const Table& table);
// Whether the condition is only about the key.
bool is_key_alone(const Where& where, const Table& table);

}  // namespace assay::internal::collect::sql
