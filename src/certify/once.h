// A value that is computed once, by the thread that needs it first.
#pragma once

#include <mutex>
#include <optional>

namespace assay::internal::certify {

template <class T>
class Once {
 public:
  template <class FindOut>
  const T& get(FindOut find_out) const {
    std::call_once(flag_, [&] { value_.emplace(find_out()); });
    return *value_;
  }

 private:
  mutable std::once_flag flag_;
  mutable std::optional<T> value_;
};

}  // namespace assay::internal::certify
