// Keys and values in a stream of bytes (base/byte_stream.h).
#pragma once

#include "assay/history.h"
#include "base/byte_stream.h"
#include "history/held_value.h"

namespace assay::internal {

inline void put_value(StreamWriter& to, const ValueView& v) {
  to.number(static_cast<uint64_t>(v.type));
  if (v.type == ValueView::Type::integer) to.integer(v.integer);
  if (v.has_text()) to.text(v.text);
}

// The text of the result lives as long as the bytes.
inline ValueView take_value_view(StreamReader& from) {
  ValueView v;
  const uint64_t type = from.number();
  if (type > static_cast<uint64_t>(ValueView::Type::row)) from.fail();
  if (!from.ok()) return v;
  v.type = static_cast<ValueView::Type>(type);
  if (v.type == ValueView::Type::integer) v.integer = from.integer();
  if (v.has_text()) v.text = from.text();
  return v;
}

inline HeldValue take_value(StreamReader& from) { return HeldValue(take_value_view(from)); }

}  // namespace assay::internal
