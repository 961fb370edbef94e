// Deciding a weak level from its forced edges.
//
// All these levels say: if a transaction saw t2, and reads x from t1, and t2 writes x, then t2
// committed before t1 (Biswas and Enea, OOPSLA 2019); they differ in what "saw" means.
//
//   s1: { w(x,1) w(y,1) }   t1
//   s2: { w(x,2) w(y,2) }   t2
//   s3: { r(x,1) r(y,2) }   saw both: by y, t1 before t2; by x, t2 before t1: a cycle, no such
//                           commit order
//
// What a transaction saw does not depend on the commit order, so neither do the edges that it
// forces. Nearly all of them agree with any sensible order: a commit order is proposed from the
// hint, and the edges that it runs against are added (seen_faults.h), until an order runs against
// none or there is a cycle. An edge into the initial state (a reader of the initial value that had
// seen a writer) refutes the level by itself. A cycle of session order and reads-from alone is
// reported without forced edges.
//
// Cost: that of finding faults, plus a topological sort, in each round.

#include "levels/weak.h"

#include <algorithm>
#include <optional>

#include "history/accesses.h"
#include "infer/hint.h"
#include "infer/reads_from.h"
#include "levels/proof_hints.h"

namespace assay::internal {
namespace {

std::vector<Arc> base_arcs(const Problem& problem, bool session_order) {
  std::vector<Arc> arcs;
  arcs.reserve(problem.nodes() + problem.reads.items.size());
  if (session_order)
    each_session_step(problem, [&](Node before, Node n) { arcs.push_back({before, n}); });
  std::vector<Node> last_reader(problem.nodes(), kNone);
  each_external_read(problem, [&](Node n, const ExternalRead& read) {
    if (read.write == kNone || last_reader[problem.writes.node[read.write]] == n) return;
    last_reader[problem.writes.node[read.write]] = n;
    arcs.push_back({problem.writes.node[read.write], n});
  });
  return arcs;
}

std::optional<Edge> read_edge(const Problem& problem, Arc nodes) {
  std::vector<ExternalRead> reads;
  external_reads(problem, nodes.to, reads);
  for (const ExternalRead& read : reads) {
    if (read.write == kNone || problem.writes.node[read.write] != nodes.from) continue;
    return Edge::read_dependency(problem.txn[nodes.from], problem.txn[nodes.to], read.key, read.op);
  }
  return std::nullopt;
}

std::optional<Edge> session_edge(const Problem& problem, Arc nodes) {
  const History& history = *problem.history;
  const Edge edge = Edge::session_order(problem.txn[nodes.from], problem.txn[nodes.to]);
  if (history.status(edge.from) != TxnStatus::committed ||
      history.session(edge.from) != history.session(edge.to) ||
      history.position(edge.from) >= history.position(edge.to))
    return std::nullopt;
  return edge;
}

}  // namespace

std::optional<Edge> base_edge(const Problem& problem, const LevelInfo& level, Arc nodes) {
  const std::optional<Edge> read = read_edge(problem, nodes);
  return read || !level.session_order ? read : session_edge(problem, nodes);
}

namespace {

// Writes the reasons of a cycle.
class WeakProof {
 public:
  WeakProof(const Problem& problem, const Digraph& base, const LevelInfo& level,
            const std::vector<VisibilityEdge>& edges, const std::vector<uint32_t>* place = nullptr)
      : problem_(problem), base_(base), level_(level), edges_(edges), place_(place) {}

  Proof of_cycle(const std::vector<Vertex>& cycle) const {
    Proof proof;
    std::vector<Edge> closed;
    for (size_t i = 0; i < cycle.size(); ++i) {
      const Arc arc{cycle[i], cycle[(i + 1) % cycle.size()]};
      if (const std::optional<Edge> known = base_edge(problem_, level_, arc)) {
        closed.push_back(*known);
      } else if (const auto it = find_arc(problem_.stated, arc); it != problem_.stated.end()) {
        closed.push_back(stated_edge(problem_, *it));
        proof.steps.push_back(stated_fact(problem_, *it));
      } else {
        const auto forced = std::find_if(
            edges_.begin(), edges_.end(),
            [&](const VisibilityEdge& e) { return e.from == arc.from && e.to == arc.to; });
        closed.push_back(forced_edge(*forced));
      }
    }
    proof.steps.push_back(cycle_step(std::move(closed)));
    conclude(proof.steps);
    return proof;
  }

  // The reader of an initial value precedes every writer of the key, yet it had seen one of them.
  ProofStep of_initial_read(const VisibilityEdge& visible) const {
    ProofStep step;
    step.cycle = forced_edge(visible).path;
    step.cycle.push_back(Edge::anti_dependency(
        problem_.txn[visible.reader], problem_.txn[visible.from], visible.key, kNone, visible.op));
    return step;
  }

  Edge forced_edge(const VisibilityEdge& visible) const {
    const Problem& problem = problem_;
    const TxnId seen = problem.txn[visible.from], reader = problem.txn[visible.reader];
    std::vector<Edge> path;
    if (visible.seen_by != kNone) {
      path = {Edge::read_dependency(seen, reader, key_seen_by(visible), visible.seen_by)};
    } else if (level_.seen.repeated) {
      path = visible_path(visible.from, visible.reader);
    } else {
      for (const std::string_view word : level_.seen.words)
        if (path.empty()) path = path_by_word(word, visible.from, visible.reader);
    }
    return Edge::forced_order(seen, visible.to == kNone ? kNone : problem.txn[visible.to],
                              visible.key, reader, visible.op, std::move(path));
  }

 private:
  static std::vector<StatedOrder>::const_iterator find_arc(const std::vector<StatedOrder>& edges,
                                                           Arc arc) {
    return std::find_if(edges.begin(), edges.end(), [arc](const StatedOrder& e) {
      return e.before == arc.from && e.after == arc.to;
    });
  }

  // The key by which `visible.from` was seen; an operation on a range sees several.
  KeyId key_seen_by(const VisibilityEdge& visible) const {
    const Operation op = problem_.history->op(visible.seen_by);
    if (!is_range(op)) return op.key;
    std::vector<ExternalRead> reads;
    external_reads(problem_, visible.reader, reads);
    for (const ExternalRead& read : reads)
      if (read.op == visible.seen_by && read.write != kNone &&
          problem_.writes.node[read.write] == visible.from)
        return read.key;
    return kNone;
  }

  // The edges that the word spells on the way from one node to another; empty if there is no such
  // way.
  std::vector<Edge> path_by_word(std::string_view word, Node from, Node to) const {
    if (word.empty()) return {};
    const bool session = word.back() == 's';
    const std::string_view before = word.substr(0, word.size() - 1);
    const auto by_way_of = [&](Node last) {
      const std::optional<Edge> step =
          session ? session_edge(problem_, {last, to}) : read_edge(problem_, {last, to});
      if (!step) return std::vector<Edge>();
      if (before.empty()) return std::vector{*step};
      std::vector<Edge> path = path_by_word(before, from, last);
      if (!path.empty()) path.push_back(*step);
      return path;
    };
    if (before.empty()) return by_way_of(from);
    std::vector<Edge> path;
    if (session) {
      for (const Node last : problem_.sessions[problem_.history->session(problem_.txn[to])])
        if (path.empty()) path = by_way_of(last);
      return path;
    }
    std::vector<ExternalRead> reads;
    external_reads(problem_, to, reads);
    for (const ExternalRead& read : reads)
      if (path.empty() && read.write != kNone) path = by_way_of(problem_.writes.node[read.write]);
    return path;
  }

  // A shortest path of session and reads-from edges; one session edge may jump over transactions.
  std::vector<Edge> visible_path(Node from, Node to) const {
    const auto edge = [this](Arc arc) { return base_edge(problem_, level_, arc); };
    if (const std::optional<Edge> direct = edge({from, to})) return {*direct};
    const std::vector<Vertex> way = shortest_path(base_, from, to, [&](Vertex v) {
      return place_ == nullptr || (*place_)[v] <= (*place_)[to];
    });
    std::vector<Edge> path;
    for (size_t i = 0; i + 1 < way.size(); ++i) path.push_back(*edge({way[i], way[i + 1]}));
    return path;
  }

  const Problem& problem_;
  const Digraph& base_;
  const LevelInfo& level_;
  const std::vector<VisibilityEdge>& edges_;
  const std::vector<uint32_t>* place_;  // indexed by node: its place in a topological order; or
                                        // null
};

}  // namespace

Edge stated_edge(const Problem& problem, const StatedOrder& stated) {
  return Edge::write_dependency(problem.txn[stated.before], problem.txn[stated.after], stated.key);
}

ProofStep stated_fact(const Problem& problem, const StatedOrder& stated) {
  ProofStep step;
  step.kind = ProofStep::Kind::fact;
  step.clause.push_back({problem.txn[stated.before], problem.txn[stated.after]});
  step.source = stated.source;
  step.source_is_op = stated.source_is_op;
  return step;
}

WeakLevels::WeakLevels(const Problem& problem, std::span<const LevelId> held)
    : problem_(problem), held_(held) {}

// Prepares what the levels share. False if the budget ran out.
bool WeakLevels::prepare(Budget& budget) {
  if (sessions_ == level_->session_order) return true;
  const uint64_t arcs = problem_.nodes() + problem_.reads.items.size();
  if (!budget.has_room(arcs * sizeof(Arc) + Digraph::bytes(problem_.nodes(), arcs))) return false;
  base_ = Digraph(problem_.nodes(), base_arcs(problem_, level_->session_order));
  rank_.resize(problem_.nodes());
  const std::vector<Node> by_time = by_write_time(problem_.hint);
  for (uint32_t i = 0; i < by_time.size(); ++i) rank_[by_time[i]] = i;
  sessions_ = level_->session_order;
  return true;
}

Judgement WeakLevels::decide(LevelId level, Budget& budget) {
  // Memory of an order while it is found, and as the certificate keeps it.
  constexpr uint64_t kBytesANode = 20;
  Judgement found;
  edges_ = {};
  constrained_.reset();
  level_ = &problem_.history->level(level);
  if (prepare(budget) && budget.has_room(kBytesANode * problem_.nodes())) decide(found, budget);
  if (found.outcome() == Outcome::unknown) found.reason = budget.reason();
  return found;
}

void WeakLevels::decide(Judgement& found, Budget& budget) {
  auto order = ordered(found, budget);
  if (!order) return;
  const std::unique_ptr<SeenFaults> faults =
      SeenFaults::make(problem_, base_, level_->seen, budget);
  if (!faults || !faults->prepare(*order, budget)) return;
  if (std::vector<Vertex> better = faults->better_order(*order); !better.empty()) {
    order = std::move(better);
    for (uint32_t i = 0; i < order->size(); ++i) rank_[(*order)[i]] = i;
    if (!problem_.stated.empty()) order = ordered(found, budget);  // the sources need not follow it
  }
  while (order) {
    const size_t known = edges_.size();
    if (!faults->find(*order, edges_, budget)) return;
    if (edges_.size() == known) {
      found = Judgement::satisfied(as_order(*order));
      return;
    }
    order = ordered(found, budget);
  }
}

// A commit order that contains all edges so far. nullopt with a judgement if they refute the level;
// nullopt without one if the budget ran out.
std::optional<std::vector<Vertex>> WeakLevels::ordered(Judgement& found, Budget& budget) {
  const WeakProof proof(problem_, base_, *level_, edges_);
  const auto initial = std::find_if(edges_.begin(), edges_.end(),
                                    [](const VisibilityEdge& e) { return e.to == kNone; });
  if (initial != edges_.end()) {
    found = Judgement::violated(Proof{{proof.of_initial_read(*initial)}});
    return std::nullopt;
  }
  const Digraph* graph = edges_.empty() && problem_.stated.empty() ? &base_ : constrained(budget);
  if (graph == nullptr) return std::nullopt;
  std::vector<Vertex> order = topological_order(*graph, rank_);
  if (order.size() == problem_.nodes()) return order;
  if (!budget.has_room(cycle_search_bytes(*graph))) return std::nullopt;
  found = Judgement::violated(proof.of_cycle(find_cycle(*graph)));
  return std::nullopt;
}

// The base graph with the stated orders and all forced edges so far: built anew for the first
// edges, which are many; later ones are added. Null if the budget ran out.
const Digraph* WeakLevels::constrained(Budget& budget) {
  if (constrained_) {
    if (!budget.has_room(constrained_->bytes_to_add(edges_.size() - constrained_edges_)))
      return nullptr;
    for (; constrained_edges_ < edges_.size(); ++constrained_edges_)
      constrained_->add({edges_[constrained_edges_].from, edges_[constrained_edges_].to});
    return &*constrained_;
  }
  std::vector<Arc> arcs;
  const size_t count = base_.edges() + problem_.stated.size() + edges_.size();
  if (!budget.has_room(count * sizeof(Arc) + Digraph::bytes(problem_.nodes(), count)))
    return nullptr;
  arcs.reserve(count);
  for (Vertex u = 0; u < base_.vertices(); ++u) {
    base_.each_out(u, [&](Vertex v) {
      arcs.push_back({u, v});
      return true;
    });
  }
  for (const StatedOrder& edge : problem_.stated) arcs.push_back({edge.before, edge.after});
  for (const VisibilityEdge& edge : edges_) arcs.push_back({edge.from, edge.to});
  constrained_edges_ = edges_.size();
  return &constrained_.emplace(problem_.nodes(), arcs);
}

Order WeakLevels::as_order(const std::vector<Vertex>& nodes) const {
  Order order;
  order.events.reserve(nodes.size());
  for (const Vertex n : nodes) order.events.push_back(problem_.txn[n]);
  return order;
}

bool WeakLevels::find_faults(LevelId level, const std::vector<Vertex>& order,
                             std::vector<WeakFault>& faults, Budget& budget) {
  level_ = &problem_.history->level(level);
  edges_.clear();
  if (!prepare(budget)) return false;
  const std::unique_ptr<SeenFaults> found = SeenFaults::make(problem_, base_, level_->seen, budget);
  if (!found || !found->prepare(order, budget) || !found->find(order, edges_, budget)) return false;
  if (!held_.empty())
    std::erase_if(edges_, [&](const VisibilityEdge& e) { return held_[e.reader] != level; });
  std::vector<uint32_t> place(problem_.nodes());
  for (uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  const WeakProof proof(problem_, base_, *level_, edges_, &place);
  // Each path that shows an observation is searched for among the transactions between its ends.
  uint64_t room_for_paths = 64 * (uint64_t{problem_.nodes()} + problem_.history->op_count());
  for (const VisibilityEdge& edge : edges_) {
    if (edge.to == kNone) {
      faults.push_back({proof.of_initial_read(edge).cycle});
    } else if (place[edge.from] > place[edge.to]) {
      faults.push_back({{proof.forced_edge(edge)}});
    } else {
      continue;
    }
    const uint64_t took =
        uint64_t{place[edge.reader]} - std::min(place[edge.from], place[edge.reader]);
    if (room_for_paths < took) break;
    room_for_paths -= took;
  }
  return true;
}

}  // namespace assay::internal
