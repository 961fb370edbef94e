// Two other definitions of the levels, which check the oracle itself. They are slower than the
// oracle and limited to smaller histories.
//
//   by_version_orders   Try every total order of the writers of each key; add the dependencies that
//                       follow (reads-from, version order, anti-dependencies) to session order and
//                       real time; the level holds iff for some choice the graph of events has no
//                       cycle. Adya's and Viper's way.
//   by_axioms           Try every total order of the transactions and test the axioms of Biswas and
//                       Enea on it, word by word. Knows the levels that are stated by such axioms.
//
// { r(x,0) r(y,0) w(x,1) } | { r(x,0) r(y,0) w(y,1) } in these terms: no key has two writers, the
// two anti-dependencies close a cycle of whole transactions (not serializable) but not of r and w
// events (snapshot isolation), and the commit order 1, 2 breaks the axiom of serializability only.
//
// Both answer unknown for a level or a history that they are not made for.
#pragma once

#include "assay/certificate.h"
#include "assay/history.h"
#include "assay/level.h"

namespace assay::internal::oracle {

// Decides levels with one or two events per transaction: prefix and everything above it, except
// linearizable.
Outcome by_version_orders(const History& history, LevelId level);

// Decides read committed, read atomic, causal, prefix, session SI and session serializable.
Outcome by_axioms(const History& history, LevelId level);

// Tests the same axioms, at each transaction those of the level that it declares: LevelId::mixed.
Outcome by_declared_levels(const History& history);

}  // namespace assay::internal::oracle
