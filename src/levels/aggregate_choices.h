// Aggregates as a theory of the search: an order in which an aggregate gives a wrong result, and
// what keeps the search from that order. See aggregate_choices.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "assay/history.h"
#include "infer/open_reads.h"
#include "levels/search.h"

namespace assay::internal {

class AggregateChoices {
 public:
  // The sources of an open read that the search had chosen for the order; empty if they were not
  // choices yet.
  using TakenSources = std::function<std::span<const Search::Source>(uint32_t read)>;

  // `met`: per key the transaction that left the state which the aggregate met. `places`: indexed
  // by vertex, its place in the order.
  AggregateChoices(const OpenReads& open, const OpenAggregate& aggregate,
                   std::span<const TxnId> met, Search::Places places)
      : open_(open), aggregate_(aggregate), met_(met), places_(places) {}

  // Gives sources to the aggregate's reads for which `needs_choice` is true and that have none yet;
  // if there are no such reads, adds what excludes the fault of the order.
  void add(const std::function<bool(uint32_t read)>& needs_choice, const TakenSources& taken,
           Search& search) const;

 private:
  AggregateTerm term(size_t k, TxnId source) const {
    return aggregate_.terms.left(source, aggregate_.terms.keys()[k]);
  }
  std::vector<AggregateTerm> terms_met() const;
  uint32_t nearest_right_place(const Search& search) const;
  bool add_rules(const TakenSources& taken, Search& search) const;
  void add_clause(Search& search) const;

  const OpenReads& open_;
  const OpenAggregate& aggregate_;
  const std::span<const TxnId> met_;
  const Search::Places places_;
};

}  // namespace assay::internal
