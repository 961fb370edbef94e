// A user's dependency graph as a certificate. See graph.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/certificate.h"
#include "assay/history.h"
#include "assay/result.h"

namespace assay::internal::certify {

struct StatedEdge {
  EdgeKind kind = EdgeKind::write_dependency;
  TxnId from = kNone, to = kNone;
  KeyId key = kNone;
  uint64_t line = 0;
};

struct StatedGraph {
  LevelId level = LevelId::pl_3;
  std::vector<StatedEdge> edges;
};

// Whether a file with this beginning may be such a graph.
bool holds_graph(std::string_view head);
// `name` is used in error positions.
Result<StatedGraph> read_graph(std::string_view text, const History& history,
                               const std::string& name);
// Verifies what the graph proves: that the level is violated, by a cycle, or satisfied, by an order
// of the transactions. Otherwise returns an error that says what does not hold.
Result<Certificate> verify_graph(const StatedGraph& graph, const History& history);

}  // namespace assay::internal::certify
