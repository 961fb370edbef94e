// Adya's levels PL-1 to PL-3, for histories that state the order of versions. See adya.cc.
#pragma once

#include <string>
#include <vector>

#include "assay/budget.h"
#include "assay/certificate.h"
#include "assay/level.h"
#include "infer/judgement.h"
#include "infer/problem.h"
#include "levels/dependencies.h"
#include "levels/dependency_graph.h"

namespace assay::internal {

// Decides Adya's levels for one history, keeping what they share.
class AdyaLevels {
 public:
  // `updates`: for pl-1 updates order nothing.
  AdyaLevels(const Problem& problem, UpdateOrders updates);

  Judgement decide(LevelId level, Budget& budget);

 private:
  using Path = DependencyGraph::Path;

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
  bool assumes(const Path& cycle) const;

  const Problem& problem_;
  bool prepared_ = false;  // whether the members below are filled
  Dependencies deps_;
  std::vector<uint32_t> rank_;  // indexed by node: its place in the order of the hint

  bool acyclic_ =
      false;  // no dependencies close a cycle: `order_` agrees with all, and the rest is empty
  DependencyGraph writes_;   // write dependencies
  DependencyGraph depends_;  // write and read dependencies
  DependencyGraph every_;
  std::vector<Node>
      write_order_;              // agrees with all write dependencies; shorter if they have a cycle
  std::vector<Node> order_;      // contains reads-from, and keeps components of the full graph
                                 // together
  std::vector<uint32_t> place_;  // indexed by node: its place in order_
  std::vector<uint32_t> component_;
  bool asked_ = false;  // whether the version orders have been looked for
  // the dependencies include an assumed order of versions that were never read
  bool assumed_ = false;
  std::string unstated_;  // why the version orders are not known; empty if they are
};

}  // namespace assay::internal
