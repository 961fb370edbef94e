// A transaction that watching keeps: where its operations are, and when it ran.
#pragma once

#include <cstdint>
#include <memory>

#include "assay/history.h"

namespace assay::internal::watch {

struct Member {
  std::shared_ptr<const History> piece;  // the lines it came with
  TxnId txn = kNone;                     // there
  uint64_t number = 0;                   // in the order of lines
  uint64_t line = 0;                     // in which it was reported
  TxnStatus status = TxnStatus::committed;
  // It certainly ran between these. Of unknown outcome: it has no end.
  int64_t begin = 0;
  int64_t end = Interval::kOpen;
  // Nothing that it saw came later. Of unknown outcome: when it was reported.
  int64_t last_look = Interval::kOpen;
  bool left_out = false;  // projected out, with all that others saw of it

  // No transaction that begins from `mark` on can explain its reads; if it has an end, they run
  // after it.
  bool sealed(int64_t mark) const { return mark == Interval::kOpen || last_look < mark; }
};

}  // namespace assay::internal::watch
