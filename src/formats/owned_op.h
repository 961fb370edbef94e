// Operations that own their texts, for readers that hold them back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/history.h"

namespace assay::internal::formats {

struct OwnedValue {
  ValueView::Type type = ValueView::Type::null;
  int64_t integer = 0;
  std::string text;
  ValueView view() const { return {type, integer, text}; }
};

struct OwnedOp {
  OpKind kind = OpKind::read;
  OwnedValue key;
  OwnedValue value;                  // read, written, appended, set
  OwnedValue expected;               // cas
  std::vector<OwnedValue> elements;  // read_list; the keys that a range found
  std::vector<OwnedValue> values;    // what these hold; none: 1
  std::string where = {};            // of a range: a condition
};

}  // namespace assay::internal::formats
