// Dependencies against real time, found without a graph of the history.
//
//   s1: { w(x,1) }   s2: { w(x,2) }                the history states that x = 1 was before x = 2
//   s3:                              { r(x,1) }    s3 began after s2 had ended, and is before it: x
//                                                  = 1 was overwritten
//
// If the orders of versions are stated, a dependency that contradicts real time usually shows up by
// itself: a transaction reads a version that was overwritten before it began, or committed after it
// had ended; or two writers are in the opposite order, or overlap where snapshots forbid that. Such
// a pair is found by a look at each dependency. Then the engine decides whether the pair violates
// the level, and why, on a part of the history: these two, the writer whose version was read, and
// one key. So nothing is concluded here, and if nothing is found, the whole history is decided as
// usual.
//
// Cost: linear in reads and stated orders, once; then that of deciding a history of three
// transactions. Source: the locality lemma of docs/architecture.md, whose first case these edges
// are.
#pragma once

#include <optional>
#include <vector>

#include "infer/problem.h"
#include "levels/strong.h"

namespace assay::internal {

class ClockFaults {
 public:
  // `whole` must outlive it, is not itself a part, and leaves nothing to a search.
  explicit ClockFaults(const Problem& whole) : whole_(whole) {}

  // Violated with a proof, or unknown without a reason.
  Judgement refute(const LevelInfo& level, const CheckOptions& options, Stages& stages,
                   Budget& budget);

 private:
  // The transactions of a dependency against real time, ascending.
  struct Suspects {
    std::vector<Node> nodes;
    KeyId key;
  };

  void look(unsigned threads);
  std::optional<Suspects> early_read() const;
  std::optional<Suspects> stale_read() const;
  std::optional<Suspects> writers_reversed() const;
  std::optional<Suspects> writers_overlap() const;

  const Problem& whole_;
  std::vector<Problem> parts_;  // one for each suspect
  bool looked_ = false;
};

}  // namespace assay::internal
