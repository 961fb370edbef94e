// Adya's levels PL-1 to PL-3, for histories that state the order of versions. See adya.cc.
#pragma once

#include <string>
#include <vector>

#include "assay/budget.h"
#include "assay/certificate.h"
#include "assay/level.h"
#include "graph/digraph.h"
#include "infer/judgement.h"
#include "infer/problem.h"
#include "levels/dependencies.h"

namespace assay::internal {

// Decides them for one history, keeping what they share.
class AdyaLevels {
 public:
  // For pl-1 updates order nothing.
  AdyaLevels(const Problem& problem, UpdateOrders updates);

  Judgement decide(LevelId level, Budget& budget);

 private:
  using Path = std::vector<uint32_t>;  // indices into deps_.all()

  bool prepare(Budget& budget);
  bool take_dependencies(Budget& budget);
  bool build_graphs(Budget& budget);
  bool put_in_order(Budget& budget);
  bool know_version_orders(Budget& budget);
  Path forbidden(const LevelInfo& level, Budget& budget) const;
  Path find(const ForbiddenCycle& kind, Budget& budget) const;
  Path lost_update() const;
  Path one_anti(Budget& budget) const;
  Path item_cycle(Budget& budget) const;
  Path cycle_of(const std::vector<Vertex>& nodes, const std::vector<uint32_t>& arcs) const;
  uint32_t dependency(Node from, Node to, const std::vector<uint32_t>& arcs) const;
  Path way(const Digraph& graph, const std::vector<uint32_t>& arcs, Node from, Node to) const;
  Proof prove(const Path& cycle) const;
  Proof prove(const Divergence& divergence) const;
  uint32_t prove_stated(uint32_t stated, Proof& proof) const;
  uint32_t prove_update(Node source, Node update, KeyId key, OpId read, Proof& proof) const;
  Edge written_after(Node before, Node after, KeyId key) const;
  bool assumes(const Path& cycle) const;

  const Problem& problem_;
  bool prepared_ = false;  // what follows is there
  Dependencies deps_;
  std::vector<uint32_t> rank_;  // per node, by the hint

  bool acyclic_ =
      false;  // no dependencies close a cycle: `order_` agrees with all, and the rest is empty
  // Indices of dependencies by their ends, and the graphs of them.
  std::vector<uint32_t> writes_, depends_, every_;
  Digraph write_graph_, depend_graph_, full_graph_;
  std::vector<Node>
      write_order_;              // agrees with all write dependencies; shorter if they have a cycle
  std::vector<Node> order_;      // with reads-from, and components of the full graph together
  std::vector<uint32_t> place_;  // in order_
  std::vector<uint32_t> component_;
  bool asked_ = false;    // whether the version orders are known
  bool assumed_ = false;  // the dependencies hold an order of versions nobody read
  std::string unstated_;  // what keeps the version orders from being known; empty if they are
};

}  // namespace assay::internal
