// Turns what the engine found into a proof that the verifier can re-check: cycles with a reason for
// every edge. See proof_builder.cc.
#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "assay/certificate.h"
#include "infer/event_graph.h"
#include "infer/known_edges.h"
#include "levels/known_paths.h"
#include "levels/search.h"

namespace assay::internal {

class ProofBuilder {
 public:
  // `order`: see KnownPaths.
  ProofBuilder(const EventGraph& events, const KnownEdges& known,
               const IncrementalOrder* order = nullptr)
      : events_(events), known_(known), paths_(events.graph(), known, order) {}

  // A cycle of known edges, as consecutive vertices.
  Proof from_cycle(std::span<const Vertex> cycle);
  // A derived edge that was not inserted because known edges lead back from its head to its tail.
  Proof from_closing_edge(const DerivedEdge& closing);
  // A refutation of the search over `search`.
  Proof from_refutation(std::span<const RefutationStep> steps, const Search& search);

 private:
  // A closed walk: arcs with the side they belong to (kKnownSide: known).
  using Walk = std::vector<SidedArc>;
  struct Cycle {
    std::vector<Edge> edges;
    std::vector<uint32_t> forced;  // what its edges assume: sources, and transactions that took
                                   // effect
    // the assumptions of its edges: sources, and transactions that took effect
    std::vector<Literal> given;
    std::vector<Seen> assumed;  // those of `given` that the reads-from relation assumes
  };

  Cycle explain(const Walk& walk, const Search* search) const;
  Edge explain_derived(const DerivedEdge& derived) const;
  void add_edge(Cycle& cycle, Edge edge) const;
  void give(Cycle& cycle, const Literal& literal) const;
  Cycle justify(const ForcedOrder& forced);
  Literal literal(Node before, Node after) const;
  void prove_forced(std::vector<uint32_t> wanted);
  void add_clause_of(Cycle cycle, std::vector<Literal> clause);
  Proof from_explained(Cycle cycle);
  std::vector<uint32_t> units_of(const Cycle& cycle);
  Proof finish();

  const EventGraph& events_;
  const KnownEdges& known_;
  KnownPaths paths_;
  Proof proof_;
  std::vector<std::pair<uint32_t, uint32_t>> unit_step_;  // (forced, step), sorted by forced
  std::map<Seen, uint32_t> source_step_;                  // for reads with one possible source
};

}  // namespace assay::internal
