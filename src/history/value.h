// Keys and values that own their text, to be stored or passed on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "assay/history.h"
#include "base/hash.h"

namespace assay::internal {

// null, an integer or a string; in recordings also a row of columns, as made by `row_text`.
struct Value {
  ValueView::Type type = ValueView::Type::null;
  int64_t integer = 0;
  std::string text = {};

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
  static Value row(std::string columns) {
    Value value = of(std::move(columns));
    value.type = ValueView::Type::row;
    return value;
  }
  bool is_null() const { return type == ValueView::Type::null; }
  bool is_integer() const { return type == ValueView::Type::integer; }
  ValueView view() const { return {type, integer, text}; }
  friend bool operator==(const Value&, const Value&) = default;
};

struct KeyHash {
  size_t operator()(const Value& key) const {
    if (key.is_integer()) return mix64(static_cast<uint64_t>(key.integer));
    return std::hash<std::string_view>{}(key.text);
  }
};

}  // namespace assay::internal
