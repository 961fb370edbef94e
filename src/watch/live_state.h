// What each key holds after the transactions that watching has behind it. Memory: the keys that were written and still
// hold something; keys and values that are replaced are given back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "assay/history.h"

namespace assay::internal::watch {

// A key or a value that is kept beyond the history it came from; never null.
class Held {
 public:
  explicit Held(const ValueView& v);
  ValueView view() const;

 private:
  std::variant<int64_t, std::string> value_;
};

class LiveState {
 public:
  struct Version {
    Held value;
    bool removed = false;  // the value is a tombstone
  };
  struct Entry {
    Version last;
    // Versions that may as well have come last: their writers ran at the same time, and nobody has read the key since.
    std::vector<Version> rivals = {};
  };
  // How to go back.
  using Change = std::pair<Held, std::optional<Entry>>;

  // Null if nobody wrote the key.
  const Entry* find(const ValueView& key) const;
  // What the key held before is appended to `changes`.
  void put(const ValueView& key, Entry entry, std::vector<Change>& changes);
  // Undoes them, the last one first.
  void take_back(std::vector<Change> changes);
  void clear() { entries_.clear(); }
  size_t size() const { return entries_.size(); }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(const ValueView& v) const;
    size_t operator()(const Held& v) const { return (*this)(v.view()); }
  };
  struct Equal {
    using is_transparent = void;
    static ValueView view(const ValueView& v) { return v; }
    static ValueView view(const Held& v) { return v.view(); }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return view(a) == view(b);
    }
  };

  std::unordered_map<Held, Entry, Hash, Equal> entries_;
};

}  // namespace assay::internal::watch
