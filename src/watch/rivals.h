// Which versions may also have come last, in a settled order.
//
//   s1: { w(x,1) w(y,1) }   at the same time as
//   s2: { w(x,2) }          no transaction reads x
//   The order s1 s2 leaves x = 2. s1 could come after s2: only x tells the two apart. Then x =
//   1, and everything else is the same.
//
// A transaction may be moved after the last writer of a key if no transaction that it passes
// certainly ran after it, or shares a key with it, except for blind writes of this key. Such moves
// are independent if no transaction is moved after one that is moved itself: the others keep their
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
  uint32_t behind = 0;  // place of the key's last writer
};

// `members`: the members of the window whose order this is.
std::vector<RivalVersion> find_rivals(const OrderAccesses& order, std::span<const Member> members);

}  // namespace assay::internal::watch
