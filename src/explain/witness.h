// The few transactions that a counterexample names, with those they read from, as a history of their own.
//
// It is a projection (history/projection.h), so what it violates the whole history violates too. Which is the weakest level
// that a counterexample refutes can so be found among a few transactions; the whole history is not decided again.
#pragma once

#include <optional>
#include <vector>

#include "assay/explanation.h"
#include "assay/history.h"
#include "explain/accesses.h"

namespace assay::internal {

class Witness {
 public:
  // None if there are more `txns` than a story can be about.
  static std::optional<Witness> of(const Accesses& accesses, std::vector<TxnId> txns);

  const History& history() const { return part_; }
  // An explanation about the witness, restated for `whole`, the history that it was taken from.
  Explanation in_whole(Explanation told, const History& whole) const;

 private:
  History part_;
  std::vector<OpId> origins_;  // of each operation
};

}  // namespace assay::internal
