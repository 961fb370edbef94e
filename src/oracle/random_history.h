// Random histories for unit tests.
#pragma once

#include <utility>

#include "assay/history.h"
#include "base/rng.h"
#include "oracle/random_draft.h"

namespace assay::internal::sample {

// A shape with registers and without unknown outcomes: what the tests of one algorithm need.
// Whether the reads can be explained is left to chance.
inline RandomShape plain(int sessions, int txns, int ops, int keys) {
  return {.max_sessions = sessions,
          .max_txns = txns,
          .max_keys = keys,
          .max_ops = ops,
          .vague = 0,
          .drifting = 0,
          .single_op = 0,
          .unknown = 0};
}

inline History random_history(Rng& rng, const RandomShape& shape) {
  for (;;) {  // some cannot be built: a change made the times of a session run backwards
    Result<History> history = random_draft(rng, shape).history();
    if (history.ok()) return std::move(history).value();
  }
}

}  // namespace assay::internal::sample
