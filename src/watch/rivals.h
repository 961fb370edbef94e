// Which versions may as well have come last, in a settled order.
//
//   s1: { w(x,1) w(y,1) }   at the same time as
//   s2: { w(x,2) }          nobody reads x
//   The order s1 s2 leaves x = 2. s1 could stand after s2: nothing but x tells them apart. Then x =
//   1, and all else is the same.
//
// A transaction may be moved behind the last writer of a key if no transaction from there on ran
// certainly after it, nor shares a key with it, except for blind writes of this one. Such moves are
// independent if no transaction is moved behind one that is moved itself: the others keep their
// order, and every transaction that must not be passed follows the new place. So every key may take
// any of its rivals, independently of the others. Without that condition it would be wrong:
//
//   s1: { r(z,0) w(x,1) }   s2: { w(x,2) w(y,1) }   s3: { w(y,2) w(z,1) }   in this order
//   x = 1 has s2 before s1, y = 1 has s3 before s2: each could be, but not both, as s1 is before
//   s3.
//
// Cost: the keys of the window; for each blind write that was overwritten blindly, the transactions
// in between that ran at the same time.
#pragma once

#include <span>
#include <vector>

#include "assay/history.h"
#include "watch/live_state.h"
#include "watch/member.h"
#include "watch/order_accesses.h"

namespace assay::internal::watch {

struct RivalVersion {
  KeyId key;
  LiveState::Version version;
  uint32_t from = 0;    // the place of its writer in the order
  uint32_t behind = 0;  // and of the last writer of the key
};

// `members`: those of the window, which the order is of.
std::vector<RivalVersion> find_rivals(const OrderAccesses& order, std::span<const Member> members);

}  // namespace assay::internal::watch
