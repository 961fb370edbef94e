// What each key holds after the transactions that have been settled. Memory: the keys that were
// written and still hold something; keys and values that are replaced are freed.
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
    // Versions that may also have come last: their writers ran at the same time, and the key has
    // not been read since.
    std::vector<Version> rivals = {};
    // For callers that ask about many keys, to mark the keys they have asked about; 0 in between.
    mutable uint32_t mark = 0;
  };
  // What undoes a change: a key, and what it held before.
  using Change = std::pair<HeldValue, std::optional<Entry>>;

  // What the key holds; null if it was never written.
  const Entry* find(const ValueView& key) const;
  // Puts a value; what the key held before is appended to `changes`.
  void put(const ValueView& key, Entry entry, std::vector<Change>& changes);
  // Undoes the changes, the last one first.
  void take_back(std::vector<Change> changes);
  void clear() { entries_.clear(); }
  // Saves everything; to be loaded into an empty object.
  void save(StateWriter& w) const;
  void load(StateReader& r);
  size_t size() const { return entries_.size(); }

 private:
  HeldMap<Entry> entries_;
};

}  // namespace assay::internal::watch
