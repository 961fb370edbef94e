#include "history/held_value.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <memory>
#include <utility>

#include "history/value_hash.h"

namespace assay::internal {

HeldValue::HeldValue(const ValueView& v) : type_(v.type) {
  if (!has_text()) {
    integer_ = v.integer;
    return;
  }
  assert(v.text.size() <= std::numeric_limits<uint32_t>::max());
  length_ = static_cast<uint32_t>(v.text.size());
  text_ = new char[length_];
  std::ranges::copy(v.text, text_);
}

HeldValue::HeldValue(HeldValue&& other) noexcept : type_(other.type_), length_(other.length_) {
  if (has_text())
    text_ = other.text_;
  else
    integer_ = other.integer_;
  other.type_ = ValueView::Type::null;
  other.integer_ = 0;
}

HeldValue& HeldValue::operator=(HeldValue&& other) noexcept {
  if (this == &other) return *this;
  std::destroy_at(this);
  std::construct_at(this, std::move(other));
  return *this;
}

HeldValue::~HeldValue() {
  if (has_text()) delete[] text_;
}

ValueView HeldValue::view() const {
  ValueView v{type_, 0, {}};
  if (has_text())
    v.text = {text_, length_};
  else
    v.integer = integer_;
  return v;
}

size_t HeldHash::operator()(const ValueView& v) const { return hash_value(v); }

}  // namespace assay::internal
