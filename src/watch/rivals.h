// Which versions may as well have come last, in an order that is settled.
//
//   s1: { w(x,1) w(y,1) }   at the same time as
//   s2: { w(x,2) }          nobody reads x
//   The order s1 s2 leaves x = 2. s1 could stand after s2: nothing but x tells them apart. Then x = 1, and all else is the same.
//
// A transaction may be moved behind the last writer of a key if nobody from there on ran certainly after it, nor shares a key
// with it, but for blind writes of this one. Such moves do not touch each other: each swaps the two writers of one
// key, and pairs that could stand either way. So every key may take any of its rivals, whatever the others take.
//
// Cost: sorts the accesses; then, for each blind write that was overwritten blindly, the transactions in between that ran at the
// same time.
#pragma once

#include <span>
#include <vector>

#include "assay/history.h"
#include "watch/live_state.h"
#include "watch/member.h"
#include "watch/window.h"

namespace assay::internal::watch {

struct RivalVersion {
  KeyId key;
  LiveState::Version version;
};

// `order`: transactions of the window, members all of them, as they are settled.
std::vector<RivalVersion> find_rivals(const Window& window, std::span<const Member> members,
                                      std::span<const TxnId> order);

}  // namespace assay::internal::watch
