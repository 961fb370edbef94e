// Deciding a weak level from its forced edges.
//
// All three levels say: if a transaction saw t2, and reads x from t1, and t2 writes x, then t2
// committed before t1 (Biswas and Enea, OOPSLA 2019); they differ in what "saw" means.
//
//   s1: { w(x,1) w(y,1) }   t1
//   s2: { w(x,2) w(y,2) }   t2
//   s3: { r(x,1) r(y,2) }   saw both: by y, t1 before t2; by x, t2 before t1: a cycle, no such
//   commit order
//
// Nothing in the rules depends on the commit order, so one pass finds all forced edges. Any
// topological order of session order, reads-from and forced edges is a commit order that satisfies
// the level; a cycle refutes it. An edge into the initial state (a reader of the initial value that
// had seen a writer) refutes it alone.
//
// Cost: that of the rule, plus a topological sort.

#include "levels/weak.h"

#include <algorithm>
#include <deque>
#include <optional>

#include "infer/stated_orders.h"

namespace assay {
namespace {

bool forced(const WeakInput& in, LevelId level, std::vector<VisibilityEdge>& edges,
            Budget& budget) {
  switch (level) {
    case LevelId::read_committed:
      return force_read_committed(in, edges, budget);
    case LevelId::read_atomic:
      return force_read_atomic(in, edges, budget);
    default:
      return force_causal(in, topological_order(in.base), edges, budget);
  }
}

std::vector<Arc> base_arcs(const History& history, const ReadsFrom& rf) {
  std::vector<Arc> arcs;
  for (const std::vector<Node>& session : rf.sessions) {
    Node previous = kNone;
    for (Node n : session) {
      if (previous != kNone) arcs.push_back({previous, n});
      if (history.status(rf.txn[n]) == TxnStatus::committed) previous = n;
    }
  }
  std::vector<Node> last_reader(rf.nodes(), kNone);
  std::vector<ExternalRead> reads;
  for (Node n = 0; n < rf.nodes(); ++n) {
    external_reads(history, rf, n, reads);
    for (const ExternalRead& read : reads) {
      if (read.write == kNone || last_reader[rf.write_node[read.write]] == n) continue;
      last_reader[rf.write_node[read.write]] = n;
      arcs.push_back({rf.write_node[read.write], n});
    }
  }
  return arcs;
}

// Writes the reasons of a cycle.
class WeakProof {
 public:
  WeakProof(const WeakInput& in, const std::vector<VisibilityEdge>& edges,
            const std::vector<StatedOrder>& stated)
      : in_(in), edges_(edges), stated_(stated) {}

  Proof of_cycle(const std::vector<Vertex>& cycle) const {
    Proof proof;
    ProofStep step;
    ProofStep last;
    last.kind = ProofStep::Kind::derived;
    for (size_t i = 0; i < cycle.size(); ++i) {
      const Arc arc{cycle[i], cycle[(i + 1) % cycle.size()]};
      if (const std::optional<Edge> known = base_edge(arc)) {
        step.cycle.push_back(*known);
      } else if (const auto it = find_arc(stated_, arc); it != stated_.end()) {
        step.cycle.push_back(stated_edge(*it));
        last.hints.push_back(static_cast<uint32_t>(proof.steps.size()));
        proof.steps.push_back(fact(*it));
      } else {
        const auto forced = std::find_if(
            edges_.begin(), edges_.end(),
            [&](const VisibilityEdge& e) { return e.from == arc.from && e.to == arc.to; });
        step.cycle.push_back(forced_edge(*forced));
      }
    }
    last.hints.push_back(static_cast<uint32_t>(proof.steps.size()));
    proof.steps.push_back(std::move(step));
    if (last.hints.size() > 1) proof.steps.push_back(std::move(last));
    return proof;
  }

  // The reader of an initial value precedes every writer of the key, yet it had seen one.
  Proof of_initial_read(const VisibilityEdge& visible) const {
    ProofStep step;
    step.cycle = forced_edge(visible).path;
    Edge anti;
    anti.kind = EdgeKind::anti;
    anti.from = in_.rf.txn[visible.reader];
    anti.to = in_.rf.txn[visible.from];
    anti.key = visible.key;
    anti.op = visible.op;
    step.cycle.push_back(anti);
    return Proof{{std::move(step)}};
  }

 private:
  static std::vector<StatedOrder>::const_iterator find_arc(const std::vector<StatedOrder>& edges,
                                                           Arc arc) {
    return std::find_if(edges.begin(), edges.end(), [arc](const StatedOrder& e) {
      return e.before == arc.from && e.after == arc.to;
    });
  }

  Edge stated_edge(const StatedOrder& stated) const {
    Edge edge;
    edge.kind = EdgeKind::write_order;
    edge.from = in_.rf.txn[stated.before];
    edge.to = in_.rf.txn[stated.after];
    edge.key = stated.key;
    return edge;
  }

  ProofStep fact(const StatedOrder& stated) const {
    ProofStep step;
    step.kind = ProofStep::Kind::fact;
    step.clause.push_back({in_.rf.txn[stated.before], in_.rf.txn[stated.after]});
    step.source = stated.source;
    step.source_is_op = stated.source_is_op;
    return step;
  }

  std::optional<Edge> base_edge(Arc arc) const {
    const ReadsFrom& rf = in_.rf;
    Edge edge;
    edge.from = rf.txn[arc.from];
    edge.to = rf.txn[arc.to];
    std::vector<ExternalRead> reads;
    external_reads(in_.history, rf, arc.to, reads);
    for (const ExternalRead& read : reads) {
      if (read.write == kNone || rf.write_node[read.write] != arc.from) continue;
      edge.kind = EdgeKind::read_from;
      edge.key = read.key;
      edge.op = read.op;
      return edge;
    }
    const History& h = in_.history;
    if (h.status(edge.from) == TxnStatus::committed && h.session(edge.from) == h.session(edge.to) &&
        h.position(edge.from) < h.position(edge.to)) {
      edge.kind = EdgeKind::session;
      return edge;
    }
    return std::nullopt;
  }

  Edge forced_edge(const VisibilityEdge& visible) const {
    const ReadsFrom& rf = in_.rf;
    Edge edge;
    edge.kind = EdgeKind::forced;
    edge.from = rf.txn[visible.from];
    if (visible.to != kNone) edge.to = rf.txn[visible.to];
    edge.key = visible.key;
    edge.via = rf.txn[visible.reader];
    edge.op = visible.op;
    if (visible.seen_by != kNone) {
      Edge seen;
      seen.kind = EdgeKind::read_from;
      seen.from = edge.from;
      seen.to = edge.via;
      seen.op = visible.seen_by;
      seen.key = in_.history.op(visible.seen_by).key;
      edge.path.push_back(seen);
    } else {
      edge.path = visible_path(visible.from, visible.reader);
    }
    return edge;
  }

  // A shortest path of session and reads-from edges; one session edge may jump over transactions.
  std::vector<Edge> visible_path(Node from, Node to) const {
    if (const std::optional<Edge> direct = base_edge({from, to})) return {*direct};
    std::vector<Node> parent(in_.rf.nodes(), kNone);
    std::deque<Node> queue{from};
    while (!queue.empty() && parent[to] == kNone) {
      const Node u = queue.front();
      queue.pop_front();
      in_.base.each_out(u, [&](Vertex v) {
        if (parent[v] == kNone && v != from) {
          parent[v] = u;
          queue.push_back(v);
        }
        return true;
      });
    }
    std::vector<Edge> path;
    for (Node v = to; v != from; v = parent[v]) path.push_back(*base_edge({parent[v], v}));
    std::reverse(path.begin(), path.end());
    return path;
  }

  const WeakInput& in_;
  const std::vector<VisibilityEdge>& edges_;
  const std::vector<StatedOrder>& stated_;
};

}  // namespace

WeakVerdict decide_weak(const History& history, const ReadsFrom& rf, LevelId level,
                        Budget& budget) {
  WeakVerdict verdict;
  const std::vector<Arc> known = base_arcs(history, rf);
  const Digraph base(rf.nodes(), known);
  const WeakInput in{history, rf, base};
  std::vector<VisibilityEdge> edges;
  const std::vector<StatedOrder> stated = stated_orders(history, rf);
  const WeakProof proof(in, edges, stated);
  if (topological_order(base).size() < rf.nodes()) {
    verdict.outcome = Outcome::violated;
    verdict.proof = proof.of_cycle(find_cycle(base));
    return verdict;
  }
  if (!forced(in, level, edges, budget)) {
    verdict.reason = budget.reason();
    if (verdict.reason.empty())
      verdict.reason = "the clocks of so many sessions need more than 4 GiB";
    return verdict;
  }
  std::vector<Arc> arcs = known;
  for (const StatedOrder& edge : stated) arcs.push_back({edge.before, edge.after});
  for (const VisibilityEdge& edge : edges) {
    if (edge.to == kNone) {
      verdict.outcome = Outcome::violated;
      verdict.proof = proof.of_initial_read(edge);
      return verdict;
    }
    arcs.push_back({edge.from, edge.to});
  }
  const Digraph graph(rf.nodes(), arcs);
  const std::vector<Vertex> order = topological_order(graph);
  if (order.size() < rf.nodes()) {
    verdict.outcome = Outcome::violated;
    verdict.proof = proof.of_cycle(find_cycle(graph));
    return verdict;
  }
  verdict.outcome = Outcome::satisfied;
  for (Vertex n : order) verdict.order.events.push_back(rf.txn[n]);
  return verdict;
}

}  // namespace assay
