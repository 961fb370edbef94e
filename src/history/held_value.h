// A key or a value that is kept longer than the history it came from, and what a hash map of such
// values needs for look-ups with views.
//
// It takes 16 bytes, plus any text: tables hold one for each key of a database.
#pragma once

#include <cstddef>
#include <cstdint>

#include "assay/history.h"

namespace assay::internal {

class HeldValue {
 public:
  explicit HeldValue(const ValueView& v);
  HeldValue(const HeldValue& other) : HeldValue(other.view()) {}
  // A moved-from value is null.
  HeldValue(HeldValue&& other) noexcept;
  HeldValue& operator=(const HeldValue& other) { return *this = HeldValue(other); }
  HeldValue& operator=(HeldValue&& other) noexcept;
  ~HeldValue();

  ValueView view() const;

 private:
  bool has_text() const {
    return type_ == ValueView::Type::string || type_ == ValueView::Type::row;
  }

  ValueView::Type type_;
  uint32_t length_ = 0;  // of the text, in bytes
  union {
    int64_t integer_ = 0;
    char* text_;  // owned; not terminated
  };
};
static_assert(sizeof(HeldValue) == 16);

struct HeldHash {
  using is_transparent = void;
  size_t operator()(const ValueView& v) const;
  size_t operator()(const HeldValue& v) const { return (*this)(v.view()); }
};

struct HeldEqual {
  using is_transparent = void;
  static ValueView view(const ValueView& v) { return v; }
  static ValueView view(const HeldValue& v) { return v.view(); }
  template <class A, class B>
  bool operator()(const A& a, const B& b) const {
    return view(a) == view(b);
  }
};

}  // namespace assay::internal
