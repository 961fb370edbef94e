// Certificates of violation that need no cycle: one operation saw what no database may show at any
// level.
//
//   s1: { w(x,1) w(x,2) }   s2: { r(x,1) }       an intermediate read: `read` is r(x,1), `other` is
//                                                w(x,1)
//
// Two things must hold. The read cannot be explained: its version is neither the transaction's last
// write of the key, nor the initial value, nor installed by any transaction that may count. And the
// name is right: the other operation is the one that the anomaly's definition requires. A
// non-repeatable read is different: each of its reads may have an explanation, but not both at
// once, which read committed alone allows.
#pragma once

#include "assay/certificate.h"
#include "assay/history.h"
#include "assay/result.h"
#include "certify/lookups.h"

namespace assay::internal::certify {

class BadReadVerifier {
 public:
  BadReadVerifier(const BadRead& claim, const Lookups& lookups)
      : claim_(claim), lookups_(lookups), history_(lookups.history()) {}

  Status supports(LevelId level);

 private:
  Status check() const;
  // Whether the two operations, of one transaction, see one state at a level at which each
  // statement is an event.
  bool see_one_state() const;

  const BadRead& claim_;
  const Lookups& lookups_;
  const History& history_;
  Once<Status> checked_;
};

}  // namespace assay::internal::certify
