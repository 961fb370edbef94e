// The known part of a history's event graph at one level: every edge that holds whatever the
// version orders are. See event_graph.cc.
#pragma once

#include <span>
#include <vector>

#include "assay/history.h"
#include "assay/level.h"
#include "graph/digraph.h"
#include "infer/problem.h"

namespace assay::internal {

class EventGraph {
 public:
  // `level` must not be weak.
  EventGraph(const Problem& problem, const LevelInfo& level);
  // What building one takes, at most.
  static uint64_t bytes(const Problem& problem, const LevelInfo& level);

  const LevelInfo& level() const { return level_; }
  const Problem& problem() const { return problem_; }
  const History& history() const { return history_; }
  Digraph& graph() { return graph_; }
  const Digraph& graph() const { return graph_; }

  bool split() const { return split_; }
  // The event at which a node reads, and the one at which its writes are installed.
  Vertex read_event(Node n) const { return split_ ? 2 * n : n; }
  Vertex write_event(Node n) const { return split_ ? 2 * n + 1 : n; }
  // Where a write dependency arrives: w(S) → here. The begin where the level forbids overlapping
  // writers.
  Vertex overwrite_event(Node n) const {
    return split_ && !level_.write_conflict ? 2 * n + 1 : read_event(n);
  }
  size_t events() const { return (split_ ? 2 : 1) * problem_.nodes(); }
  bool is_event(Vertex v) const { return v < events(); }
  Node node_of(Vertex v) const { return split_ ? v / 2 : v; }
  bool is_write_event(Vertex v) const { return !split_ || v % 2 == 1; }
  bool committed(Node n) const { return history_.status(problem_.txn[n]) == TxnStatus::committed; }

  // The reason for a known path between two events whose inner vertices are helpers. The path is
  // one edge (events only), or runs through the helpers of real time or of one key's initial value.
  // from and to differ as transactions.
  Edge reason(Vertex from, std::span<const Vertex> helpers, Vertex to) const;

 private:
  // Bounds on what a level has.
  struct Size {
    size_t vertices = 0, arcs = 0;
  };
  static Size size(const Problem& problem, const LevelInfo& level);
  void add_sessions(std::vector<Arc>& arcs) const;
  void add_reads_from(std::vector<Arc>& arcs) const;
  void add_initial_reads(std::vector<Arc>& arcs);
  void add_initial_reads_of(KeyId key, std::vector<Arc>& arcs);
  void add_real_time(std::vector<Arc>& arcs);
  void add_real_time(std::span<const Node> nodes, bool one_session, std::vector<Arc>& arcs);
  Vertex new_helper(KeyId key);

  const History& history_;
  const Problem& problem_;
  const LevelInfo& level_;
  bool split_;
  std::vector<KeyId> helper_key_;  // per helper vertex: its key; kNone: real time
  Digraph graph_;
};

// When an event happened, for the purposes of real-time order: a transaction of unknown outcome
// takes effect some time after it began.
Interval event_time(const History& history, TxnId t, bool write_event);

// The last moment at which an event that was over at `response` can still overlap one of another
// session: later by the drift of the clocks, less what "strictly before" already says.
int64_t last_overlap(const History& history, int64_t response);

}  // namespace assay::internal
