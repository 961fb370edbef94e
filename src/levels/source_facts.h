// What holds whatever sources are chosen, and why. See source_facts.cc.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assay/certificate.h"
#include "assay/level.h"
#include "graph/digraph.h"
#include "infer/open_reads.h"
#include "infer/problem.h"
#include "levels/search.h"

namespace assay::internal {

// For one problem and its open reads, which must outlive it.
class SourceFacts {
 public:
  SourceFacts(const Problem& problem, const LevelInfo& level, const OpenReads& open)
      : h_(*problem.history), problem_(problem), level_(level), open_(open) {}

  // Whether the transaction takes effect only perhaps.
  bool is_possible(TxnId t) const {
    return h_.status(t) == TxnStatus::unknown && problem_.node_of(t) == kNone;
  }
  // Whether only one transaction can have left the observed state, and both certainly take effect.
  bool is_fact(const OpenRead& read) const {
    return one_source_ && read.sources.size() == 1 && !is_possible(read.reader) &&
           (read.sources[0] == kNone || !is_possible(read.sources[0]));
  }
  // Makes reads with one possible source no longer facts: the search then says how they contradict
  // each other.
  void leave_out_reads() { one_source_ = false; }

  // A graph of session order, the reads whose source is certain, and stated version orders. A
  // vertex is a transaction; one that takes effect only perhaps has no outgoing edges. `places`:
  // per transaction its place in a first order; transactions without a place, kNone, get one.
  Digraph graph(std::vector<uint32_t>& places) const;
  // The proof of a refutation by a search on that graph.
  Proof prove(const std::vector<RefutationStep>& steps, const Search& search) const;

 private:
  std::vector<ProofStep> explain(std::span<const SidedArc> walk, const Search& search) const;
  Edge known_edge(Arc arc, std::vector<ProofStep>& facts, std::vector<Literal>& given) const;

  const History& h_;
  const Problem& problem_;
  const LevelInfo& level_;
  const OpenReads& open_;
  bool one_source_ = true;
};

}  // namespace assay::internal
