// What edges rest on if sources are choices of a search. See source_conditions.cc.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "assay/certificate.h"
#include "infer/open_reads.h"
#include "levels/list_choices.h"
#include "levels/search.h"
#include "levels/source_facts.h"
#include "levels/waiting_sources.h"

namespace assay::internal {

// For one search, to which it adds the choices that it needs.
class SourceConditions {
 public:
  // `places`: the places of an order, as a guess.
  SourceConditions(const History& history, const SourceFacts& facts, const OpenReads& open,
                   const ListChoices& lists, Search::Places places, const WaitingSources& waiting,
                   Search& search)
      : h_(history),
        facts_(facts),
        open_(open),
        lists_(lists),
        places_(places),
        waiting_(waiting),
        search_(search) {}

  // Adds an edge on condition of these sides and of the propositions on which it rests: sources,
  // and outcomes of the transactions that it names.
  void add_edge(const Edge& edge, std::vector<Side> sides = {});
  // Adds that a refutation cannot hold: it consists of facts, one cycle, and their contradiction,
  // and the propositions on which it rests cannot all be true. `placed`: per list, where the search
  // has placed blocks.
  void add_refuted(std::vector<ProofStep> steps,
                   std::span<const std::vector<ListChoices::Placed>> placed);

 private:
  void note(const Edge& edge, std::vector<Side>& sides);
  Side side_of(TxnId reader, KeyId key, OpId op, TxnId source);
  std::vector<Side> make_conditional(
      ProofStep& fact, std::span<const std::vector<ListChoices::Placed>> placed) const;

  const History& h_;
  const SourceFacts& facts_;
  const OpenReads& open_;
  const ListChoices& lists_;
  const Search::Places places_;
  const WaitingSources& waiting_;
  Search& search_;
};

}  // namespace assay::internal
