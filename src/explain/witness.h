// The few transactions that a counterexample names, with those they read from, as a history of
// their own.
//
// It is a projection (history/projection.h), so the whole history violates every level that it
// violates. So the weakest level that a counterexample refutes can be found among a few
// transactions; the whole history is not decided again.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "assay/check.h"
#include "assay/explanation.h"
#include "assay/history.h"
#include "explain/reads_and_writes.h"
#include "explain/shrink.h"

namespace assay::internal {

class Witness {
 public:
  // nullopt if there are more `txns` than a story can be about.
  static std::optional<Witness> of(const History& h, std::vector<TxnId> txns);

  const History& history() const { return part_; }
  History take_history() && { return std::move(part_); }
  // An excerpt for a story that shows the operations as they are in the original history.
  Excerpt excerpt_of(const History& whole) const { return {part_, &whole, origins_}; }

  // The fewest of its transactions that still show something, found in a limited number of tries.
  struct Smallest;
  std::optional<Smallest> smallest(const Shows& shows, uint64_t most_tries) const;

  // Whether the same transactions of `whole`, cut out in one step, show it, too. In histories with
  // ranges that may keep fewer of their observations.
  bool shown_at_once(const History& whole, const Shows& shows) const;

  // The witness's transactions, by their numbers in `whole`, the history that it was taken from.
  std::vector<TxnId> transactions_of(const History& whole) const;
  // An explanation about the witness, restated for `whole`, the history that it was taken from.
  Explanation in_whole(Explanation story, const History& whole) const;

 private:
  History part_;
  std::vector<OpId> origins_;  // indexed by operation
};

// All writers of the versions that one of these transactions saw, whatever their outcome: an
// observation stays in a projection only with all transactions that could explain it. If a version
// has very many writers, none of them is included: its observation will be dropped. Reads the whole
// history.
std::vector<TxnId> possible_sources(const History& h, std::span<const TxnId> txns);

// A history of only these transactions.
Result<History> part_of(const History& history, std::span<const TxnId> txns,
                        std::vector<OpId>* origins = nullptr);

// A violated level with a certificate that the verifier accepts.
struct Refuted {
  LevelId level;
  Certificate certificate;
};
// Returns those of `levels` that a witness violates, the weakest first. The limit of effort is the
// same in every run; a few dozen transactions need a small part of it.
std::vector<Refuted> refuted(const History& few, std::vector<LevelId> levels);

struct Witness::Smallest {
  Witness witness;
  bool minimal = false;  // none of its transactions can be left out
};

}  // namespace assay::internal
