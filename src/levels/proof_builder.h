// Turns what the engine found into a proof that the verifier can re-check: cycles with a reason for
// every edge. See proof_builder.cc.
#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "assay/certificate.h"
#include "graph/incremental_order.h"
#include "infer/event_graph.h"
#include "infer/known_edges.h"
#include "levels/search.h"

namespace assay::internal {

class ProofBuilder {
 public:
  // `order`: a topological order of the known edges, which says where not to look for a path; or null.
  ProofBuilder(const EventGraph& events, const KnownEdges& known,
               const IncrementalOrder* order = nullptr)
      : events_(events), known_(known), order_(order), taken_(known.forced.size(), 0) {}

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
    std::vector<uint32_t> forced;  // indices of the forced orders its edges assume
    std::vector<Literal> given;    // what was seen, and who took effect, that its edges assume
    std::vector<Seen> assumed;     // those of `given` that the reads-from relation assumes
  };

  Cycle explain(const Walk& walk, const Search* search) const;
  Edge explain_derived(const DerivedEdge& derived) const;
  void add_edge(Cycle& cycle, Edge edge) const;
  void give(Cycle& cycle, const Literal& literal) const;
  Cycle justify(const ForcedOrder& forced);
  std::vector<Vertex> known_path(Vertex from, Vertex to, uint32_t edges_known);
  Literal literal(Node before, Node after) const;
  void prove_forced(std::vector<uint32_t> wanted);
  uint32_t add_cycle_step(Cycle cycle);
  std::vector<uint32_t> units_of(const Cycle& cycle);
  Proof finish();

  const EventGraph& events_;
  const KnownEdges& known_;
  const IncrementalOrder* order_;
  Proof proof_;
  std::vector<std::pair<uint32_t, uint32_t>> unit_step_;  // (forced, step), sorted by forced
  std::map<Seen, uint32_t> source_step_;                  // of reads with one possible source
  std::vector<uint8_t> taken_;                            // per forced order: it is proved
  std::vector<uint64_t> cost_;                            // scratch of known_path, also below
  std::vector<uint32_t> mark_, parent_;
  uint32_t stamp_ = 0;
};

}  // namespace assay::internal
