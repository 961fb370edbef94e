// Derived edges, each with its reason: saturation and stated version orders add them to the known
// graph. They are kept in the order of their derivation, since a justification must never depend on
// itself.
#pragma once

#include <cstdint>
#include <vector>

#include "assay/certificate.h"
#include "graph/digraph.h"
#include "infer/problem.h"

namespace assay::internal {

// Why `before` precedes `after` in version order: the history states this, or the opposite would
// close a cycle with known edges.
//   stated   `source` of a fact step (ProofStep)
//   closed   the opposite order adds an edge from `tail` to `head`, and known edges lead back from
//            head to tail. That edge is a write dependency after → before on `key` (reader ==
//            kNone), or the anti-dependency of `reader`, who reads `key` from `before`.
struct ForcedOrder {
  enum class Why : uint8_t { stated, closed };
  Why why = Why::closed;
  Node before = kNone;
  Node after = kNone;
  KeyId key = kNone;
  Node reader =
      kNone;  // closed: reads `key` from `after`; the opposite order overwrites the version it read
  uint32_t edges_known = 0;  // closed: number of edges derived before; the way back uses only those
  uint32_t round = 0;        // closed: number of rounds of saturation before
  uint32_t source = kNone;   // stated
  bool source_is_op = false;
};

// An edge that follows from a forced order: the write dependency itself, or the anti-dependency of
// a transaction that read `before`'s version.
struct DerivedEdge {
  Arc arc;
  EdgeKind kind = EdgeKind::write_dependency;  // or anti_dependency
  KeyId key = kNone;
  Node reader = kNone;  // anti-dependency: the node of arc.from
  uint32_t forced = 0;  // index into KnownEdges::forced
};

struct KnownEdges {
  std::vector<ForcedOrder> forced;
  std::vector<DerivedEdge> edges;  // in the order in which they were added to the graph

  // Adds an edge whose order follows from the first `edges_known` derived edges.
  void add(DerivedEdge edge, ForcedOrder order, uint32_t edges_known, uint32_t round) {
    order.edges_known = edges_known;
    order.round = round;
    edge.forced = static_cast<uint32_t>(forced.size());
    forced.push_back(order);
    edges.push_back(edge);
  }
};

}  // namespace assay::internal
