// Sources of open reads that are not choices of a search yet. See waiting_sources.cc.
#pragma once

#include <cstdint>
#include <functional>
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

// For one problem and its open reads, which must outlive it.
class WaitingSources {
 public:
  WaitingSources(const Problem& problem, const LevelInfo& level, const OpenReads& open,
                 const SourceFacts& facts);

  // Gives a source to each read that is not a choice. `place`: indexed by transaction, its place in
  // an order. Returns the reads that nothing before them explains.
  std::vector<uint32_t> find(std::span<const uint32_t> place, const Search& search);
  // A read of the transaction that nothing before it explains, while there are no choices; nullopt
  // if all are explained. `place`: as above; kNone: not before any other.
  std::optional<uint32_t> unexplained_read(TxnId reader, std::span<const uint32_t> place);
  // The source that was found last; kNone: the initial state.
  TxnId of(uint32_t read) const { return source_[read]; }

 private:
  void find_own_writers();
  std::span<const uint32_t> reads_of(TxnId reader) const {
    return std::span(reads_).subspan(first_[reader], first_[reader + 1] - first_[reader]);
  }
  // Returns the source of the read; nullopt if it is unexplained.
  using Choose = std::function<std::optional<TxnId>(uint32_t read)>;
  void give_sources(TxnId reader, std::span<const uint32_t> place, const Choose& choose,
                    std::vector<uint32_t>& unexplained);
  void see(TxnId source, std::span<const uint32_t> place);
  bool contradicts(TxnId source, std::span<const uint32_t> place) const;
  std::optional<TxnId> earliest(uint32_t read, std::span<const uint32_t> place) const;

  const Problem& problem_;
  const LevelInfo& level_;
  const OpenReads& open_;
  const SourceFacts& facts_;
  std::vector<uint32_t> reads_;  // all reads, sorted by their readers and operations
  std::vector<uint32_t> first_;  // indexed by transaction: where its reads begin
  std::vector<TxnId> source_;    // indexed by read
  // Indexed by read, if the level lets sessions see what they wrote: the last transaction before
  // the reader in its session that wrote the key.
  std::vector<TxnId> own_writer_;
  // For the current reader, per key: the place of the last writer that it has seen; and, if all
  // reads of a transaction count together, one more than the place of the writer that a known read
  // saw.
  std::unordered_map<KeyId, uint32_t> seen_, known_;
};

}  // namespace assay::internal
