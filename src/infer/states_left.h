// The states that writes left of keys, by key and by version: the few that may explain an
// observation are found at once.
//
//   w(x,1)  w(x,2)  d(x)      r(x,2): the second   ins(x,3): the third   ins(x,3)!: all three
//
// `Left` is a write or the state it left, four to sixteen bytes. Cost: three copies of each, and a
// little memory per key and version.
#pragma once

#include <span>
#include <vector>

#include "history/accesses.h"
#include "infer/rows.h"

namespace assay::internal {

template <class Left>
class StatesLeft {
 public:
  // `state_of` returns the state of an element of `all`.
  template <class StateOf>
  StatesLeft(const History& history, const std::vector<Left>& all, StateOf state_of) : h_(history) {
    const auto key_of = [&](const Left& left) { return h_.version_key(state_of(left).version); };
    const auto sorted = [&](size_t rows, auto row_of) {
      return collect_rows<Left>(rows, [&](auto add) {
        for (const Left& left : all)
          if (const size_t row = row_of(left); row != kNone) add(row, left);
      });
    };
    of_key_ = sorted(h_.key_count(), key_of);
    of_version_ =
        sorted(h_.version_count(), [&](const Left& left) { return state_of(left).version; });
    absent_ = sorted(h_.key_count(), [&](const Left& left) {
      return is_absent(h_, state_of(left)) ? key_of(left) : KeyId{kNone};
    });
  }

  std::span<const Left> of(KeyId key) const { return of_key_[key]; }
  // All states that may explain all of these observations of the key, and perhaps some that do not:
  // those that the narrowest observation allows.
  std::span<const Left> candidates(KeyId key, std::span<const Observation> observations) const {
    bool must_be_absent = false;
    for (const Observation& seen : observations) {
      const bool equals = seen.accepts == Accepts::equals;
      if (equals && !h_.version_value(seen.version).is_null()) return of_version_[seen.version];
      must_be_absent = must_be_absent || equals || seen.accepts == Accepts::absent;
    }
    return (must_be_absent ? absent_ : of_key_)[key];
  }

 private:
  const History& h_;
  Rows<Left> of_key_, of_version_;
  Rows<Left> absent_;  // by key: its states without a version
};

}  // namespace assay::internal
