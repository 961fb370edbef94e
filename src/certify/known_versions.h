// Whether the history determines the place of each version that was read: at Adya's levels
// `satisfied` claims this in addition to an order.
//
//   s1: A { w(x,1) }   s2: B { w(x,2) }   s3: C { r(x,1) }     A C B and B A C both leave no
//                                                              forbidden cycle, A B C leaves one
//   C saw A's version, and nothing says whether B overwrote it: refused. With `order x: 2 1` it is
//   known.
//
// It is known which of two versions of a key came first if their order is
//
//   stated   a line of the history names both;
//   listed   a list that was read shows both, or shows one and lacks the other;
//   updated  at pl-2 and above: the transaction that wrote the later read the earlier, and no other
//            can have left what it read.
//
// Versions that no operation saw may follow the others in any order. At pl-1, where the sources of
// reads do not matter, an operation saw a version only if nothing else explains its result: not the
// initial state, and no version that was overwritten or rolled back. An aggregate may have seen any
// version of its keys.
//
// Cost: the operations; and for each range the keys within its bounds whose versions are not all
// stated, at most 100 million.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "assay/history.h"
#include "assay/result.h"
#include "certify/commit_order.h"
#include "certify/reads.h"
#include "certify/sources.h"
#include "certify/stated_orders.h"

namespace assay::internal::certify {

class KnownVersions {
 public:
  // `order` must have every transaction that took effect, each at its place, and agree with the
  // stated orders.
  KnownVersions(const Lookups& lookups, std::span<const TxnId> order);

  // Whether the places of all versions are stated; then nothing more need be checked.
  bool all_stated() const { return suspects_.empty(); }
  // Checks the versions that operations see as `order` explains them: the state at their place.
  Status as_replayed(ReadRule rule);
  // The same for these sources, at pl-2 and above.
  Status as_read(const CommitOrder& reads);

 private:
  using Slot = uint32_t;  // place of a version among those of its key, from 1; 0: before all

  struct Key {
    std::vector<Slot> stated_before;  // indexed by version: the last one that is known to come
                                      // before it
    Slot listed = 0;                  // lists show the order up to here, and all others come later
    Slot seen = 0;                    // the last one that was read
  };

  void note_lines();
  void note_updates();
  Slot slot_of(KeyId key, TxnId t) const;
  Slot last_slot(KeyId key) const { return static_cast<Slot>(writers_.of(key).size()); }
  bool knows_all(const Key& key) const;
  bool is_suspect(KeyId key) const { return !knows_all(keys_[key]); }
  void see(KeyId key, Slot slot) { keys_[key].seen = std::max(keys_[key].seen, slot); }
  void see_list(OpId op, Slot slot);
  Status see_all(TxnId reader, ReadRule rule);
  void see_dirty_list(const Access& list);
  void see_dirty(OpId op, KeyId key);
  const Sources& sources();
  bool aggregates_rows(OpId op) const;
  void see_aggregate(OpId op);
  bool step() { return ++steps_ <= kMostSteps; }
  Status judge() const;

  static constexpr uint64_t kMostSteps = 100'000'000;

  const Lookups& lookups_;
  const History& history_;
  const std::span<const TxnId> order_;
  std::vector<Place> place_;  // indexed by transaction; 0: it did not take effect
  const PlacedWriters writers_;
  std::vector<Key> keys_;
  std::vector<KeyId> suspects_;  // keys for some of whose versions it is not stated which came
                                 // first
  std::optional<Sources> sources_;
  uint64_t steps_ = 0;
};

}  // namespace assay::internal::certify
