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

// Of one problem; keeps the results of look-ups. A write of kNone is the initial version of the
// key.
class PredicateReads {
 public:
  // A condition and a version, of which it is known what changed the match last.
  using LastChanges = std::map<std::pair<PredicateId, WriteId>, WriteId>;

  explicit PredicateReads(const Problem& problem) : history_(*problem.history), problem_(problem) {}

  // Whether a range selects a key that a write has left like this.
  Match match(OpId range, KeyId key, WriteId write);
  // The same of the version that the range saw without returning it. If the condition leaves that
  // open, the range decides.
  Match match_seen(OpId range, KeyId key, WriteId write);
  // The last of `until`, which ends with the version that a range saw, that changed whether the
  // range selects the key: kNone if none did, or perhaps another. `known`: of this order of the
  // versions, and is added to.
  WriteId last_to_change(OpId range, std::span<const WriteId> until, LastChanges& known);
  // The same in every order of the versions. Nothing if it depends on an order that is not stated.
  std::optional<WriteId> certainly_last_to_change(OpId range, WriteId read);

 private:
  void find_whole_orders();
  bool others_all_differ(OpId range, WriteId read);

  const History& history_;
  const Problem& problem_;
  std::vector<KeyState> left_;  // per write the state it left, filled when a range needs it
  // Once a range asks what changed a match last. Per key what those left of it that did not abort;
  // its writes in the order that one statement gives of all of these, empty if none does; per write
  // its place there.
  std::vector<std::vector<KeyState>> may_be_left_;
  std::vector<std::vector<WriteId>> whole_orders_;
  std::vector<uint32_t> whole_place_;
  LastChanges last_change_;
  // How many of may_be_left_ satisfy a condition, do not, or perhaps do.
  std::map<std::pair<PredicateId, KeyId>, std::array<uint32_t, 3>> matches_;
};

}  // namespace assay::internal
