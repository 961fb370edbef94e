// Compares oracle, checker and verifier on every history within bounds, at every level.
#pragma once

#include <cstdint>
#include <string>

#include "oracle/enumerate.h"
#include "oracle/selftest.h"

namespace assay::internal {

struct Compared {
  uint64_t enumerated = 0;
  uint64_t compared = 0;
  uint64_t satisfied = 0, violated = 0, undefined = 0;  // verdicts of the oracle
  uint64_t left_open = 0;  // those that the checker does not give: see states_its_orders()
  uint64_t given_up = 0;   // those that the oracle does not: it tries no more than 800 orders of
                           // versions, and only at Adya's levels does "unknown" mean that
  std::string failure;     // the first disagreement, with its history; empty if there is none
};

// Every key of several writers has a stated order. Without one Adya's levels may be left open.
bool states_its_orders(const Draft& draft);

// Every `step`th history, from the one with the number `first`. Ends with the first disagreement.
Compared compare_all(const oracle::Bounds& bounds, uint64_t step = 1, uint64_t first = 0);

// The same with another checker.
Compared compare_all(const oracle::Bounds& bounds, uint64_t step, uint64_t first,
                     const oracle::Checker& checker);

}  // namespace assay::internal
