// Keys and values that own their text, for the way between workloads and databases.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "assay/history.h"

namespace assay::internal::collect {

// null, an integer or a string.
struct Value {
  ValueView::Type type = ValueView::Type::null;
  int64_t integer = 0;
  std::string text;

  Value() = default;
  static Value of(int64_t v) {
    Value value;
    value.type = ValueView::Type::integer;
    value.integer = v;
    return value;
  }
  static Value of(std::string v) {
    Value value;
    value.type = ValueView::Type::string;
    value.text = std::move(v);
    return value;
  }
  bool is_null() const { return type == ValueView::Type::null; }
  bool is_integer() const { return type == ValueView::Type::integer; }
  ValueView view() const { return {type, integer, text}; }
  friend bool operator==(const Value&, const Value&) = default;
};

}  // namespace assay::internal::collect
