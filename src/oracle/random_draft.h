// Small random histories near the border between satisfied and violated at every level.
//
// A tiny simulated database at a random isolation level runs a random workload. So most reads are
// plausible: they come from a serial execution, from snapshots (with or without write conflicts,
// fresh or stale), from causally closed or arbitrary sets of visible transactions, from read
// committed, or from nowhere. Then sometimes one detail is changed: a read, an outcome, the order
// of two operations. Times follow the simulation, with overlaps, equal readings and gaps.
#pragma once

#include <cstdint>
#include <optional>

#include "base/rng.h"
#include "oracle/draft.h"

namespace assay::internal {

struct RandomShape {
  enum class Isolation : uint8_t {
    serial,
    snapshot,        // with write conflicts
    prefix,          // without write conflicts
    stale_snapshot,  // an older state, with write conflicts
    causal,
    arbitrary_set,  // whole transactions, any of them
    read_committed,
    chaos,  // each read sees a different state
  };

  int max_sessions = 4;
  int max_txns = 7;
  int max_keys = 3;
  int max_ops = 4;        // per transaction
  double timed = 0.75;    // share of histories with times; likewise below
  double vague = 0.3;     // of these, histories in which begins and ends lie in one interval
  double drifting = 0.2;  // of these, histories whose clocks may differ
  double mutated = 0.75;  // histories with something changed afterwards
  double duplicates = 0;  // histories in which values are written twice
  double lists = 0;       // histories of lists
  double list_key = 0;    // of the others with several keys, those whose last key holds a list
  double rich = 0;        // histories with removes, inserts, compare-and-set and ranges
  double predicates = 0;  // of ranges, those with a condition
  double aggregates = 0;  // of these, aggregates
  double texts = 0.3;     // of histories with conditions, those whose values are texts
  double ordered = 0;     // histories of registers that state the order of all versions
  double loose = 0;  // histories that state orders of any versions: part of them, overwritten and
                     // aborted ones, in several lines, and now and then values that were never
                     // written
  double named = 0;  // of stated orders, the share whose entries usually state their transactions
  double complete = 0;     // of those with stated orders, histories whose orders are said to be
                           // complete to some time
  double sourced = 0;      // histories that state the sources of most reads
  double own_initial = 0;  // histories without lists in which keys have initial values of their own
  double single_op = 0.1;  // histories of single operations
  double mini = 0;         // histories of mini-transactions (mini_transactions.h)
  double joined = 0;       // of operations, those of the same statement as the one before
  double unknown = 0.3;    // histories with transactions of unknown outcome
  bool exact = false;  // begins and ends are moments, all different, and conflicts are always found
  std::optional<Isolation> isolation = {};  // otherwise each history draws one
};

Draft random_draft(Rng& rng, const RandomShape& shape = {});

}  // namespace assay::internal
