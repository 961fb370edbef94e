// Aggregates of which it is open what their keys held: an order has to explain them by the sources
// of these (aggregates.h).
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "infer/aggregates.h"
#include "infer/touched_keys.h"

namespace assay::internal {

struct OpenAggregate {
  AggregateTerms terms;
  // Per key: its open read (OpenReads::all). kNone if the reader had written the key itself, or no
  // other transaction wrote it.
  std::vector<uint32_t> reads = {};
  // The keys about which its claim says nothing, ascending. They may be in any state.
  std::vector<KeyId> unclaimed = {};
};

// Those of one history, by operation.
class OpenAggregates {
 public:
  // `all`: the operations, ascending; aggregates that no states of their keys decide are omitted.
  OpenAggregates(const History& history, std::span<const OpId> all);

  const std::vector<OpenAggregate>& all() const { return all_; }
  std::span<const OpenAggregate> of(TxnId t) const;
  // Whether an open read is of one of their keys.
  bool need(uint32_t read) const { return read < needed_.size() && needed_[read] != 0; }
  // Whether the operation says anything of the key by itself: not an aggregate of a key that its
  // claim does not cover.
  bool observes(OpId op, KeyId key) const;

  // If the operation is one of them: adds to what its claim observes the keys about which that says
  // nothing.
  void add_unclaimed(OpId op, const TouchedKeys& keys, std::vector<Observation>& seen);
  // The open reads of a transaction, by key; one for each key, as it sees one state of each.
  void note_reads(TxnId t, const std::unordered_map<KeyId, uint32_t>& reads);

 private:
  const History& h_;
  std::vector<OpenAggregate> all_;
  std::vector<uint8_t> needed_;  // per open read, as far as there are such
};

}  // namespace assay::internal
