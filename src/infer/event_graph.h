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
  // The bytes that building a graph takes at most.
  static uint64_t bytes(const Problem& problem, const LevelInfo& level);

  const LevelInfo& level() const { return level_; }
  const Problem& problem() const { return problem_; }
  const History& history() const { return history_; }
  Digraph& graph() { return graph_; }
  const Digraph& graph() const { return graph_; }

  bool split() const { return split_; }
  bool mixes_levels() const { return level_.events == EventModel::mixed; }
  // The event at which a node reads, and the one at which its writes are installed. Where levels
  // are mixed, a node with a single event has only the latter; the number of the former is a vertex
  // without arcs.
  Vertex read_event(Node n) const { return split_ && !has_one_event(n) ? 2 * n : write_event(n); }
  Vertex write_event(Node n) const { return split_ ? 2 * n + 1 : n; }
  // The event at which a write dependency arrives: w(S) → here. It is the begin if the node's level
  // forbids overlapping writers.
  Vertex overwrite_event(Node n) const { return holds(n) ? read_event(n) : write_event(n); }
  // Whether the node's reads precede all transactions that overwrite the versions it read. False at
  // a weak level.
  bool sees_one_state(Node n) const { return rules_.empty() || !rules_[n].weak; }

  // What kind of event a vertex is; for helpers all are false.
  bool reads(Vertex v) const { return is_event(v) && v == read_event(node_of(v)); }
  bool writes(Vertex v) const { return is_event(v) && v == write_event(node_of(v)); }
  bool overwrites(Vertex v) const { return is_event(v) && v == overwrite_event(node_of(v)); }
  // Whether some node holds the keys that it writes between its two events: in that time no writes
  // of others are installed.
  bool any_holds() const { return any_holds_; }
  bool waits_for_holders(Vertex v) const { return any_holds_ && overwrites(v); }
  bool takes_hold(Vertex v) const { return any_holds_ && overwrites(v) && !writes(v); }
  size_t events() const { return (split_ ? 2 : 1) * problem_.nodes(); }
  bool is_event(Vertex v) const { return v < events(); }
  Node node_of(Vertex v) const { return split_ ? v / 2 : v; }
  bool is_write_event(Vertex v) const { return !split_ || v % 2 == 1; }
  bool committed(Node n) const { return history_.status(problem_.txn[n]) == TxnStatus::committed; }

  // The reason for a known path between two events whose inner vertices are helpers. The path is
  // one edge between events, or runs through the helpers of real time or of one key's initial
  // value. `from` and `to` belong to different transactions.
  Edge reason(Vertex from, std::span<const Vertex> helpers, Vertex to) const;

 private:
  // Bounds on the size of a level's graph.
  struct Size {
    size_t vertices = 0, arcs = 0;
  };
  static Size size(const Problem& problem, const LevelInfo& level);
  void take_declared_levels();
  void add_sessions(std::vector<Arc>& arcs) const;
  void add_reads_from(std::vector<Arc>& arcs) const;
  void add_initial_reads(std::vector<Arc>& arcs);
  void add_initial_reads_of(KeyId key, std::vector<Arc>& arcs);
  void add_real_time(std::vector<Arc>& arcs);
  void add_real_time(std::span<const Node> nodes, bool one_session, std::vector<Arc>& arcs);
  Vertex new_helper(KeyId key);

  const History& history_;
  const Problem& problem_;
  // The rules of a node, where levels are mixed.
  struct NodeRules {
    bool one_event, weak, holds;
  };
  bool has_one_event(Node n) const { return !rules_.empty() && rules_[n].one_event; }
  bool holds(Node n) const {
    return rules_.empty() ? split_ && level_.write_conflict : rules_[n].holds;
  }

  const LevelInfo& level_;
  bool split_;
  std::vector<NodeRules> rules_;  // empty: all nodes have the same level
  bool any_holds_;
  std::vector<KeyId> helper_key_;  // indexed by helper vertex: its key; kNone: real time
  Digraph graph_;
};

// The time of an event for real-time order: a transaction of unknown outcome takes effect some time
// after it began.
Interval event_time(const History& history, TxnId t, bool write_event);

// The last moment at which an event that was over at `response` can still overlap one of another
// session: later by the drift of the clocks, less one where the drift is not 0, because of
// "strictly before".
int64_t last_overlap(const History& history, int64_t response);

}  // namespace assay::internal
