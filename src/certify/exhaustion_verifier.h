// Certificates that no order of the operations on one key explains what they returned.
//
//   w(x,1) [0,1]   cas(x,1,2) failed [2,3]   r(x,1) [4,5]
//
// There is no shorter proof than to enumerate the orders, so the verifier does: it keeps the set of
// all *situations* that the key can be in, and follows the clock. A situation is the content of the
// key and the set of operations under way that have taken effect. At a response the operation must
// have taken effect: each situation is replaced by those in which it did, reached by letting
// operations under way take effect. When no situation is left, there is no order.
//
//   - An operation that changes nothing may as well take effect at the first moment it fits.
//   - Values that no operation on the key asks for are equivalent, and so are the writers of one
//     value, except those that a read is stated to be from.
//   - Of two operations under way that do the same, the one that responds first may go first: if
//     the other one did, they could change places.
//
// Beyond Exhausted::kMostSituations the certificate is refused.
#pragma once

#include "assay/certificate.h"
#include "assay/history.h"
#include "assay/level.h"
#include "assay/result.h"
#include "certify/once.h"

namespace assay::internal::certify {

class ExhaustionVerifier {
 public:
  ExhaustionVerifier(const Exhausted& claim, const History& history)
      : claim_(claim), history_(history) {}

  Status supports(LevelId level);

 private:
  Status check() const;

  const Exhausted& claim_;
  const History& history_;
  Once<Status> checked_;
};

}  // namespace assay::internal::certify
