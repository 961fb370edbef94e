// Aggregates for which the states of their keys are open: an order has to explain them by the
// sources of reads of these keys (aggregates.h).
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
  // Per key its open read (an index into OpenReads::all), or kNone if the reader had written the
  // key itself, or no other transaction wrote it.
  std::vector<uint32_t> reads = {};
  // The keys about which the aggregate's claim says nothing, ascending. They may be in any state.
  std::vector<KeyId> unclaimed = {};
};

// The open aggregates of one history, by operation.
class OpenAggregates {
 public:
  // `all`: the aggregates, ascending; the ones that no states of their keys decide are omitted.
  OpenAggregates(const History& history, std::span<const OpId> all);

  const std::vector<OpenAggregate>& all() const { return all_; }
  std::span<const OpenAggregate> of(TxnId t) const;
  // Whether an open read is of a key of these aggregates.
  bool need(uint32_t read) const { return read < needed_.size() && needed_[read] != 0; }
  // Whether the operation says anything about the key by itself: false for an aggregate whose claim
  // does not cover the key.
  bool observes(OpId op, KeyId key) const;

  // If the operation is one of these aggregates: adds to what its claim observes the keys about
  // which the claim says nothing.
  void add_unclaimed(OpId op, const TouchedKeys& keys, std::vector<Observation>& seen);
  // Notes the open reads of a transaction, by key; one for each key, as the transaction sees one
  // state of each.
  void note_reads(TxnId t, const std::unordered_map<KeyId, uint32_t>& reads);

 private:
  const History& h_;
  std::vector<OpenAggregate> all_;
  std::vector<uint8_t> needed_;  // indexed by open read; may be shorter
};

}  // namespace assay::internal
