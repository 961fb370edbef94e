// What each key holds after the transactions that watching has behind it. Memory: the keys that
// were written and still hold something; keys and values that are replaced are given back.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "assay/history.h"
#include "history/held_map.h"

namespace assay::internal::watch {

class StateReader;
class StateWriter;

class LiveState {
 public:
  struct Version {
    HeldValue value;
    bool removed = false;  // the value is a tombstone
  };
  struct Entry {
    Version last;
    // Versions that may as well have come last: their writers ran at the same time, and the key has
    // not been read since.
    std::vector<Version> rivals = {};
    // For callers that ask about many keys, to note the keys they have asked about; 0 in between.
    mutable uint32_t mark = 0;
  };
  // How to go back.
  using Change = std::pair<HeldValue, std::optional<Entry>>;

  // Null if the key was never written.
  const Entry* find(const ValueView& key) const;
  // What the key held before is appended to `changes`.
  void put(const ValueView& key, Entry entry, std::vector<Change>& changes);
  // Undoes them, the last one first.
  void take_back(std::vector<Change> changes);
  void clear() { entries_.clear(); }
  // Writes all of it down; into one that is empty.
  void save(StateWriter& w) const;
  void load(StateReader& r);
  size_t size() const { return entries_.size(); }

 private:
  HeldMap<Entry> entries_;
};

}  // namespace assay::internal::watch
