// What ranges observe of keys that they did not return. See predicate_reads.cc.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "history/accesses.h"
#include "infer/problem.h"

namespace assay::internal {

// The predicate reads of one problem; keeps the results of look-ups. A write of kNone is the
// initial version of the key.
class PredicateReads {
 public:
  // Per condition and version, the write that changed the match last.
  using LastChanges = std::map<std::pair<PredicateId, WriteId>, WriteId>;

  explicit PredicateReads(const Problem& problem) : history_(*problem.history), problem_(problem) {}

  // Whether a range selects a key in the state that a write left.
  Match match(OpId range, KeyId key, WriteId write);
  // The same for the version that the range saw without returning it. If the condition leaves the
  // match open, the range decides.
  Match match_seen(OpId range, KeyId key, WriteId write);
  // The last write in `until`, which ends with the version that a range saw, that changed whether
  // the range selects the key; kNone if none did, or perhaps another. `known`: results for this
  // order of the versions; new ones are added.
  WriteId last_to_change(OpId range, std::span<const WriteId> until, LastChanges& known);
  // The same if it holds for every order of the versions; nullopt if it depends on an order that is
  // not stated.
  std::optional<WriteId> certainly_last_to_change(OpId range, WriteId read);

 private:
  void find_whole_orders();
  bool others_all_differ(OpId range, WriteId read);

  const History& history_;
  const Problem& problem_;
  std::vector<KeyState> left_;  // indexed by write: the state it left, filled when a range needs it
  // Filled once a range asks what changed a match last. Per key the states left by transactions
  // that did not abort; the key's writes in the order that one statement gives for all of these,
  // empty if none does; per write its place in that order.
  std::vector<std::vector<KeyState>> may_be_left_;
  std::vector<std::vector<WriteId>> whole_orders_;
  std::vector<uint32_t> whole_place_;
  LastChanges last_change_;
  // How many states in may_be_left_ satisfy a condition, do not, or perhaps do.
  std::map<std::pair<PredicateId, KeyId>, std::array<uint32_t, 3>> matches_;
};

}  // namespace assay::internal
