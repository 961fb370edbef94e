// Sources of open reads that are no choices of a search yet. See waiting_sources.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "assay/level.h"
#include "infer/open_reads.h"
#include "infer/problem.h"
#include "levels/search.h"
#include "levels/source_facts.h"

namespace assay::internal {

// Of one problem and its open reads, which must outlive it.
class WaitingSources {
 public:
  WaitingSources(const Problem& problem, const LevelInfo& level, const OpenReads& open,
                 const SourceFacts& facts);

  // Gives each read that is no choice a source. `place`: per transaction, in an order. Returns the
  // reads that nothing before them explains.
  std::vector<uint32_t> find(std::span<const uint32_t> place, const Search& search);
  // As found last; kNone: the initial state.
  TxnId of(uint32_t read) const { return source_[read]; }

 private:
  void see(TxnId source, std::span<const uint32_t> place);
  std::optional<TxnId> earliest(const OpenRead& read, std::span<const uint32_t> place) const;

  const Problem& problem_;
  const bool earlier_reads_only_;
  const OpenReads& open_;
  const SourceFacts& facts_;
  std::vector<uint32_t> reads_;  // all, by their operations
  std::vector<TxnId> source_;    // per read
  // Of the reader: per key, the place of the last writer that it has seen.
  std::unordered_map<KeyId, uint32_t> seen_;
};

}  // namespace assay::internal
