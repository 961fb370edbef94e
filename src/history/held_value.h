// A key or a value that is kept beyond the history it came from, and how a hash map of such is asked with views.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

#include "assay/history.h"

namespace assay::internal {

class HeldValue {
 public:
  explicit HeldValue(const ValueView& v);
  ValueView view() const;

 private:
  ValueView::Type type_;
  std::variant<int64_t, std::string> value_;
};

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
