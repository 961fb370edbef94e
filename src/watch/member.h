// A transaction that watching keeps: where its operations are, and when it ran.
#pragma once

#include <cstdint>
#include <memory>

#include "assay/history.h"

namespace assay::internal::watch {

struct Member {
  std::shared_ptr<const History> piece;  // the lines with which it came
  TxnId txn = kNone;                     // its number there
  uint64_t number = 0;                   // in the order of lines
  uint64_t line = 0;                     // the line in which it was reported
  TxnStatus status = TxnStatus::committed;
  // The transaction certainly ran between these times. If its outcome is unknown, it has no end.
  int64_t begin = 0;
  int64_t end = Interval::kOpen;
  // Nothing that the transaction saw came later. If its outcome is unknown: when it was reported.
  int64_t last_look = Interval::kOpen;
  bool left_out = false;  // left out, with all that others saw of it

  // Whether no transaction that begins at `mark` or later can explain its reads; if it has an end,
  // they all run after it.
  bool sealed(int64_t mark) const { return mark == Interval::kOpen || last_look < mark; }
};

}  // namespace assay::internal::watch
