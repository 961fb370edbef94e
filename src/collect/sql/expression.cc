#include "collect/sql/expression.h"

#include <algorithm>

namespace assay::internal::collect::sql {
namespace {

Error out_of_range() {
  return bad_input("the result of an expression is not a 64-bit integer; expected smaller numbers");
}

Result<Value> combine(Expression::Kind kind, int64_t a, int64_t b) {
  int64_t result = 0;
  bool overflow = false;
  switch (kind) {
    case Expression::Kind::add:
      overflow = __builtin_add_overflow(a, b, &result);
      break;
    case Expression::Kind::subtract:
      overflow = __builtin_sub_overflow(a, b, &result);
      break;
    case Expression::Kind::multiply:
      overflow = __builtin_mul_overflow(a, b, &result);
      break;
    default:
      if (b == 0) return bad_input("an expression divides by 0; expected another number after %");
      // The least integer modulo -1 would overflow on the way.
      result = b == -1 ? 0 : a % b;
  }
  if (overflow) return out_of_range();
  return Value::of(result);
}

}  // namespace

bool Expression::uses_columns() const {
  return kind == Kind::column || std::any_of(parts.begin(), parts.end(),
                                             [](const Expression& e) { return e.uses_columns(); });
}

Result<Value> evaluate(const Expression& e, std::span<const Value> parameters) {
  if (e.kind == Expression::Kind::constant) return e.constant;
  if (e.kind == Expression::Kind::parameter) return parameters[e.index];
  std::vector<Value> values;
  for (const Expression& part : e.parts) {
    Result<Value> value = evaluate(part, parameters);
    if (!value.ok() || value->is_null()) return value;
    values.push_back(std::move(*value));
  }
  if (e.kind == Expression::Kind::negate)
    return combine(Expression::Kind::subtract, 0, values[0].integer);
  return combine(e.kind, values[0].integer, values[1].integer);
}

bool compare(Comparison comparison, const Value& a, const Value& b) {
  if (a.is_null() || b.is_null() || a.type != b.type) return false;
  const int order =
      a.is_integer() ? (a.integer > b.integer) - (a.integer < b.integer) : a.text.compare(b.text);
  switch (comparison) {
    case Comparison::equal:
      return order == 0;
    case Comparison::not_equal:
      return order != 0;
    case Comparison::less:
      return order < 0;
    case Comparison::at_most:
      return order <= 0;
    case Comparison::more:
      return order > 0;
    case Comparison::at_least:
      return order >= 0;
  }
  return false;
}

Cell cell_of(const Value& value) {
  if (value.is_null()) return {};
  if (value.is_integer()) return {Cell::Type::integer, value.integer, {}};
  return {Cell::Type::string, 0, value.text};
}

Result<Condition> condition_of(const Where& where, const Table& table,
                               std::span<const Value> parameters) {
  Condition bound{.kind = where.kind};
  for (const Where& part : where.parts) {
    Result<Condition> inner = condition_of(part, table, parameters);
    if (!inner.ok()) return inner;
    bound.parts.push_back(std::move(*inner));
  }
  if (!where.parts.empty()) return bound;
  if (where.kind != Condition::Kind::all) bound.column = table.columns[where.column].name;
  for (const Expression& e : where.values) {
    const Result<Value> value = evaluate(e, parameters);
    if (!value.ok()) return value.error();
    bound.constants.push_back(cell_of(*value));
  }
  return bound;
}

const Expression* key_of(const Where& where, const Table& table) {
  if (where.kind == Condition::Kind::equal && where.column == table.key) return &where.values[0];
  if (where.kind != Condition::Kind::all) return nullptr;
  for (const Where& part : where.parts)
    if (const Expression* key = key_of(part, table)) return key;
  return nullptr;
}

bool is_key_alone(const Where& where, const Table& table) {
  return where.kind == Condition::Kind::equal && where.column == table.key;
}

}  // namespace assay::internal::collect::sql
