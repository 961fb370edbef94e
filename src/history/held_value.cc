#include "history/held_value.h"

#include "history/value_hash.h"

namespace assay::internal {

HeldValue::HeldValue(const ValueView& v) : type_(v.type) {
  if (v.type == ValueView::Type::integer)
    value_ = v.integer;
  else
    value_ = std::string(v.text);
}

ValueView HeldValue::view() const {
  if (const auto* integer = std::get_if<int64_t>(&value_)) return ValueView::of(*integer);
  ValueView text = ValueView::of(std::string_view(std::get<std::string>(value_)));
  text.type = type_;
  return text;
}

size_t HeldHash::operator()(const ValueView& v) const { return hash_value(v); }

}  // namespace assay::internal
