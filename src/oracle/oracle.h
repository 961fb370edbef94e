// The oracle: decides which levels a small history satisfies, directly from the definitions, by
// trying everything.
//
// It is made to be trusted, not to be fast, and shares nothing with the checker. Every level is
// decided by its definition:
//
//   which transactions took effect?   Committed ones did, aborted ones did not; of those with
//                                     unknown outcome every subset is tried, except those that a
//                                     stated order names (oracle.cc).
//   the levels of snapshots and       Is there an order of events, one or two per transaction,
//   serializations                    in which replaying the operations returns what was read?
//                                     (replay.h)
//   statement snapshots               The same, with one event per statement and one for the commit
//                                     (statements.h).
//   the weak levels                   Is there a commit order that contains session order and
//                                     reads-from and satisfies the level's axiom? (commit_order.h)
//   Adya's levels                     Is there a version order without a forbidden cycle? (adya.h)
//
// Two other formulations, by version orders and by axioms alone, in turn check the oracle
// (second_opinion.h).
#pragma once

#include <array>
#include <span>
#include <string>

#include "assay/certificate.h"
#include "assay/history.h"
#include "assay/level.h"

namespace assay::internal::oracle {

// Returns `unknown` if the history is beyond the oracle's limits (more than 16 transactions that
// may have taken effect, 8 of them of unknown outcome, too many states) or if the level is not
// defined for it:
//   - a level of real time, and a committed transaction without times — unless the level without
//     real time is violated already;
//   - linearizable, and a transaction that counts is not one operation on one key.
// `why`, if not null, receives one sentence about any outcome except satisfied.
Outcome decide(const History& history, LevelId level, std::string* why = nullptr);

// The same for one of Adya's levels, except that an order of versions counts only if the history
// determines the place of each version that was read (adya.h). satisfied: the checker may claim
// this. violated: it may not; the level need not be violated.
Outcome decide_with_known_orders(const History& history, LevelId level);

// The same, except that transactions that did not commit count as readers: their reads must have a
// source, and no other transaction sees their writes. For the levels of snapshots and
// serializations except linearizable; unknown for the others.
Outcome decide_with_aborted_reads(const History& history, LevelId level);

// The same for several levels, indexed by LevelId; unknown for the others.
std::array<Outcome, kLevelCount> decide_all(const History& history,
                                            std::span<const LevelInfo> levels = default_levels());

}  // namespace assay::internal::oracle
