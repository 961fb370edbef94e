// Adya's levels: which kinds of dependencies may not close a cycle.
//
//   pl-1     write dependencies alone (G0)
//   pl-2     write and read dependencies (G1c)
//   pl-cs    and a lost update: a transaction reads a version of a key and overwrites a later one (G-cursor)
//   pl-2+    and one anti-dependency (G-single)
//   pl-2.99  and any number of anti-dependencies, at least one of them on a key that was read, not on one that a range
//            found absent (G2-item)
//   pl-3     anything (G2)
//
//   s1: { r(l,[]) a(m,1) }   s2: { r(m,[]) a(l,1) }
//   T1 -rw l-> T2 -rw m-> T1: no cycle with one anti-dependency, so pl-2+ holds; pl-2.99 does not.
//
// From pl-cs on two transactions that read one version of a key and overwrite it refute by themselves: whichever was first, the
// other lost its update.
//
// The version order must be known (dependencies.h). A forbidden cycle of what the history certainly has refutes. Else
// one order of the transactions serves every level that holds: it follows write and read dependencies, keeps what is on
// a common cycle together, and the versions that nobody read follow it. The full graph is acyclic iff all of it runs
// forwards in this order; an anti-dependency is on a cycle iff its ends are in one component; and a path that closes
// a cycle with one anti-dependency lies between that one's ends in the order, so only edges that run backwards are
// looked at, each between its ends. It is rare in histories that one runs backwards and closes no cycle.
//
// Where an order was found that explains what each transaction saw, and each version is stated to follow the one before, none of
// this is asked: that order serves all of these levels (walk.cc).
//
// Should the assumed order of unread versions close a forbidden cycle that is not there without it, the verdict is
// unknown; another order might not. That can happen for pl-cs and pl-2+ only.
//
// Cost: linear, with a logarithm for sorting, but for pl-2+, where it is the edges between the ends of
// anti-dependencies that run backwards. Definitions: Adya 1999; names as in Clark et al. 2024.

#include "levels/adya.h"

#include <algorithm>
#include <span>
#include <tuple>

#include "base/sort_by.h"
#include "graph/components.h"
#include "infer/hint.h"
#include "levels/counting_sort.h"

namespace assay::internal {
namespace {

constexpr size_t kCyclesTried = 64;  // for a short one

}  // namespace

AdyaLevels::AdyaLevels(const Problem& problem, UpdateOrders updates)
    : problem_(problem), deps_(problem, updates) {}

// What the levels share. False if the budget ran out.
bool AdyaLevels::prepare(Budget& budget) {
  if (prepared_) return true;
  if (!deps_.find(budget)) return false;
  rank_.resize(problem_.nodes());
  const std::vector<Node> by_time = by_write_time(problem_.hint);
  for (uint32_t i = 0; i < by_time.size(); ++i) rank_[by_time[i]] = i;
  return prepared_ = take_dependencies(budget);
}

// Mostly there is no cycle, and one order is all that any level asks for.
bool AdyaLevels::take_dependencies(Budget& budget) {
  const std::vector<Dependency>& all = deps_.all();
  if (!budget.has_room(sizeof(Arc) * all.size() + Digraph::bytes(problem_.nodes(), all.size())))
    return false;
  {
    std::vector<Arc> arcs;
    arcs.reserve(all.size());
    for (const Dependency& d : all) arcs.push_back({d.from, d.to});
    full_graph_ = Digraph(problem_.nodes(), arcs);
  }
  if (!budget.has_room(topological_order_bytes(full_graph_))) return false;
  order_ = topological_order(full_graph_, rank_);
  acyclic_ = order_.size() == problem_.nodes();
  return acyclic_ || (build_graphs(budget) && put_in_order(budget));
}

bool AdyaLevels::build_graphs(Budget& budget) {
  const std::vector<Dependency>& all = deps_.all();
  // Each dependency is in at most three lists and graphs; the largest is sorted with a buffer and as arcs.
  const uint64_t lists = 3 * sizeof(uint32_t) * all.size() + sizeof(Arc) * all.size();
  if (!budget.has_room(lists + 3 * Digraph::bytes(problem_.nodes(), all.size()))) return false;
  const auto build = [&](auto belongs, std::vector<uint32_t>& ids, Digraph& graph) {
    ids.clear();
    ids.reserve(all.size());
    for (uint32_t i = 0; i < all.size(); ++i)
      if (belongs(all[i].kind)) ids.push_back(i);
    ids.shrink_to_fit();
    counting_sort(ids, problem_.nodes(), [&](uint32_t i) { return all[i].to; });
    counting_sort(ids, problem_.nodes(), [&](uint32_t i) { return all[i].from; });
    std::vector<Arc> arcs;
    arcs.reserve(ids.size());
    for (const uint32_t i : ids) {
      const Arc arc{all[i].from, all[i].to};
      if (arcs.empty() || !(arcs.back() == arc)) arcs.push_back(arc);
    }
    graph = Digraph(problem_.nodes(), arcs);
  };
  build([](EdgeKind k) { return k == EdgeKind::write_dependency; }, writes_, write_graph_);
  build([](EdgeKind k) { return k != EdgeKind::anti_dependency; }, depends_, depend_graph_);
  build([](EdgeKind) { return true; }, every_, full_graph_);
  return true;
}

bool AdyaLevels::put_in_order(Budget& budget) {
  if (!budget.has_room(2 * topological_order_bytes(full_graph_) + cycle_search_bytes(full_graph_)))
    return false;
  write_order_ = topological_order(write_graph_, rank_);
  order_ = topological_order(depend_graph_, rank_);
  if (order_.size() < problem_.nodes()) return true;
  Components components = strong_components(full_graph_);
  component_ = std::move(components.of);
  place_.resize(problem_.nodes());
  for (uint32_t i = 0; i < order_.size(); ++i) place_[order_[i]] = i;
  std::vector<uint32_t> earliest(components.count, kNone);
  for (const Node n : order_)
    earliest[component_[n]] = std::min(earliest[component_[n]], place_[n]);
  if (!budget.has_room(sizeof(Arc) * every_.size() +
                       Digraph::bytes(components.count, every_.size())))
    return false;
  std::vector<Arc> arcs;
  arcs.reserve(every_.size());
  for (const uint32_t i : every_) {
    const Arc arc{component_[deps_.all()[i].from], component_[deps_.all()[i].to]};
    if (arc.from != arc.to) arcs.push_back(arc);
  }
  const std::vector<Vertex> between = topological_order(Digraph(components.count, arcs), earliest);
  for (uint32_t i = 0; i < between.size(); ++i) earliest[between[i]] = i;  // now: its place
  stable_sort_by(order_, [&](Node n) { return earliest[component_[n]]; });
  for (uint32_t i = 0; i < order_.size(); ++i) place_[order_[i]] = i;
  return true;
}

// False if the budget ran out.
bool AdyaLevels::know_version_orders(Budget& budget) {
  if (asked_) return true;
  asked_ = true;
  Rows<WriteId> versions;
  const bool ordered = order_.size() == problem_.nodes();
  if (!budget.has_room(2 * sizeof(uint32_t) * problem_.nodes() +
                       sizeof(WriteId) * problem_.writes.size()))
    return false;
  if (!deps_.version_orders(ordered ? order_ : write_order_, versions, unstated_)) return true;
  if (!ordered || !deps_.assume(versions)) return true;
  assumed_ = true;
  return take_dependencies(budget);
}

Judgement AdyaLevels::decide(LevelId level, Budget& budget) {
  const uint64_t searching = cycle_search_bytes(full_graph_) + sizeof(uint32_t) * problem_.nodes();
  Path cycle;
  const LevelInfo& row = level_info(level);
  if (prepare(budget) && budget.has_room(searching)) cycle = forbidden(row, budget);
  if (cycle.empty() && !asked_ && !budget.exhausted_now() && know_version_orders(budget) &&
      assumed_)
    cycle = forbidden(row, budget);
  const bool loses_updates =
      std::ranges::any_of(row.forbidden, &ForbiddenCycle::holds_anti_dependencies) && prepared_ &&
      deps_.divergence();
  if (!cycle.empty() && !assumes(cycle)) return Judgement::violated(prove(cycle));
  if (loses_updates) return Judgement::violated(prove(*deps_.divergence()));
  if (budget.exhausted_now()) return Judgement::unknown(budget.reason());
  if (!cycle.empty())
    return Judgement::unknown(
        {UnknownCause::lacks_order,
         "the history does not state the order of versions that nobody read"});
  if (!unstated_.empty()) return Judgement::unknown({UnknownCause::lacks_order, unstated_});
  Order order;
  const bool ordered = order_.size() == problem_.nodes();
  for (const Node n : ordered ? order_ : write_order_) order.events.push_back(problem_.txn[n]);
  return Judgement::satisfied(std::move(order));
}

AdyaLevels::Path AdyaLevels::forbidden(const LevelInfo& level, Budget& budget) const {
  Path cycle;
  for (const ForbiddenCycle& kind : level.forbidden)
    if (cycle.empty() && !kind.any.empty() && !acyclic_) cycle = find(kind, budget);
  return cycle;
}

// Those with an anti-dependency are looked for where there is no cycle without one.
AdyaLevels::Path AdyaLevels::find(const ForbiddenCycle& kind, Budget& budget) const {
  if (kind.one_key) return lost_update();
  if (!kind.once.empty()) return kind.any == "wr" ? one_anti(budget) : item_cycle(budget);
  if (write_order_.size() < problem_.nodes()) return cycle_of(find_cycle(write_graph_), writes_);
  if (kind.any == "w") return {};
  if (order_.size() < problem_.nodes()) return cycle_of(find_cycle(depend_graph_), depends_);
  return kind.any == "wr" ? Path() : cycle_of(find_cycle(full_graph_), every_);
}

// Somebody read a version of a key and wrote another, not the next.
AdyaLevels::Path AdyaLevels::lost_update() const {
  std::vector<uint32_t> by_key;  // write dependencies, by their earlier version
  for (const uint32_t i : writes_) by_key.push_back(i);
  const std::vector<Dependency>& all = deps_.all();
  std::sort(by_key.begin(), by_key.end(), [&](uint32_t a, uint32_t b) {
    return std::tuple(all[a].from, all[a].key, all[a].to) <
           std::tuple(all[b].from, all[b].key, all[b].to);
  });
  const auto following = [&](Node from, KeyId key) {
    const auto of = [&](uint32_t i) { return std::pair(all[i].from, all[i].key); };
    const std::pair wanted(from, key);
    const auto begin = std::lower_bound(by_key.begin(), by_key.end(), wanted,
                                        [&](uint32_t i, auto& w) { return of(i) < w; });
    const auto end = std::upper_bound(begin, by_key.end(), wanted,
                                      [&](auto& w, uint32_t i) { return w < of(i); });
    return std::span(begin, end);
  };
  for (const uint32_t i : every_) {
    const Dependency& anti = all[i];
    if (anti.kind != EdgeKind::anti_dependency || !anti.item ||
        place_[anti.to] > place_[anti.from] || problem_.write_of(anti.from, anti.key) == kNone)
      continue;
    // From the overwriting version on to the reader's own, each time to the nearest that is stated to follow.
    Path path{i};
    for (Node at = anti.to; at != anti.from;) {
      const std::span<uint32_t> next = following(at, anti.key);
      const auto nearest = std::min_element(next.begin(), next.end(), [&](uint32_t x, uint32_t y) {
        return place_[all[x].to] < place_[all[y].to];
      });
      if (nearest == next.end() || place_[all[*nearest].to] > place_[anti.from]) {
        path.clear();
        break;
      }
      path.push_back(*nearest);
      at = all[*nearest].to;
    }
    if (!path.empty()) return path;
  }
  return {};
}

// Backwards from each reader that runs against the order, for as long as it may meet who overwrote what it read.
AdyaLevels::Path AdyaLevels::one_anti(Budget& budget) const {
  const std::vector<Dependency>& all = deps_.all();
  std::vector<Node> seen_from(problem_.nodes(), kNone), queue;
  for (size_t i = 0; i < every_.size();) {
    const Node reader = all[every_[i]].from;
    uint32_t earliest = place_[reader];
    size_t end = i;
    for (; end < every_.size() && all[every_[end]].from == reader; ++end)
      if (all[every_[end]].kind == EdgeKind::anti_dependency)
        earliest = std::min(earliest, place_[all[every_[end]].to]);
    if (earliest < place_[reader]) {
      queue.assign(1, reader);
      seen_from[reader] = reader;
      for (size_t at = 0; at < queue.size(); ++at) {
        if (budget.exhausted()) return {};
        depend_graph_.each_in(queue[at], [&](Vertex v) {
          if (place_[v] >= earliest && seen_from[v] != reader) {
            seen_from[v] = reader;
            queue.push_back(v);
          }
          return true;
        });
      }
      for (size_t e = i; e < end; ++e) {
        if (all[every_[e]].kind != EdgeKind::anti_dependency ||
            seen_from[all[every_[e]].to] != reader)
          continue;
        Path path = way(depend_graph_, depends_, all[every_[e]].to, reader);
        path.push_back(every_[e]);
        return path;
      }
    }
    i = end;
  }
  return {};
}

// An anti-dependency on a key that was read, within a component. The shortest cycle of a few. Readers that write the
// key themselves have lost an update, or wrote the next version, and what comes after that they did not overwrite.
AdyaLevels::Path AdyaLevels::item_cycle(Budget& budget) const {
  const std::vector<Dependency>& all = deps_.all();
  Path best;
  size_t tried = 0;
  for (const uint32_t i : every_) {
    const Dependency& anti = all[i];
    if (anti.kind != EdgeKind::anti_dependency || !anti.item ||
        component_[anti.from] != component_[anti.to] ||
        problem_.write_of(anti.from, anti.key) != kNone)
      continue;
    if (++tried > kCyclesTried || budget.exhausted_now()) break;
    Path path = way(full_graph_, every_, anti.to, anti.from);
    path.push_back(i);
    if (best.empty() || path.size() < best.size()) best = std::move(path);
    if (best.size() == 2) break;
  }
  return best;
}

// A shortest path from one node to another; there is one.
AdyaLevels::Path AdyaLevels::way(const Digraph& graph, const std::vector<uint32_t>& arcs, Node from,
                                 Node to) const {
  std::vector<Node> parent(problem_.nodes(), kNone);
  std::vector<Node> queue{from};
  parent[from] = from;
  for (size_t at = 0; at < queue.size() && parent[to] == kNone; ++at)
    graph.each_out(queue[at], [&](Vertex v) {
      if (parent[v] == kNone) {
        parent[v] = queue[at];
        queue.push_back(v);
      }
      return true;
    });
  std::vector<Vertex> nodes;
  for (Node v = to; v != from; v = parent[v]) nodes.push_back(v);
  nodes.push_back(from);
  std::reverse(nodes.begin(), nodes.end());
  Path path;
  for (size_t i = 0; i + 1 < nodes.size(); ++i)
    path.push_back(dependency(nodes[i], nodes[i + 1], arcs));
  return path;
}

AdyaLevels::Path AdyaLevels::cycle_of(const std::vector<Vertex>& nodes,
                                      const std::vector<uint32_t>& arcs) const {
  Path path;
  for (size_t i = 0; i < nodes.size(); ++i)
    path.push_back(dependency(nodes[i], nodes[(i + 1) % nodes.size()], arcs));
  return path;
}

// The first one between two nodes that have one.
uint32_t AdyaLevels::dependency(Node from, Node to, const std::vector<uint32_t>& arcs) const {
  return *std::lower_bound(arcs.begin(), arcs.end(), std::pair(from, to),
                           [this](uint32_t a, const auto& ends) {
                             return std::pair(deps_.all()[a].from, deps_.all()[a].to) < ends;
                           });
}

bool AdyaLevels::assumes(const Path& cycle) const {
  return std::any_of(cycle.begin(), cycle.end(), [this](uint32_t i) {
    const Dependency& d = deps_.all()[i];
    return d.assumed || (d.kind == EdgeKind::write_dependency && d.stated == kNone);
  });
}

Edge AdyaLevels::written_after(Node before, Node after, KeyId key) const {
  return Edge::write_dependency(problem_.txn[before], problem_.txn[after], key);
}

// Adds the step by which one version is known to come before another, and gives its number.
uint32_t AdyaLevels::prove_stated(uint32_t index, Proof& proof) const {
  const StatedOrder& stated = deps_.stated(index);
  if (deps_.is_update(index))
    return prove_update(stated.before, stated.after, stated.key, stated.source, proof);
  ProofStep& step = proof.steps.emplace_back();
  step.kind = ProofStep::Kind::fact;
  step.clause.push_back({problem_.txn[stated.before], problem_.txn[stated.after]});
  step.source = stated.source;
  step.source_is_op = stated.source_is_op;
  return static_cast<uint32_t>(proof.steps.size() - 1);
}

// The same of a transaction that read a version and overwrote it: were its own version the earlier one, the two writers would be on
// a cycle.
uint32_t AdyaLevels::prove_update(Node source, Node update, KeyId key, OpId read,
                                  Proof& proof) const {
  proof.steps.emplace_back().cycle = {
      written_after(update, source, key),
      Edge::read_dependency(problem_.txn[source], problem_.txn[update], key, read)};
  return static_cast<uint32_t>(proof.steps.size() - 1);
}

// The cycle, and what the history states for the orders that it assumes.
Proof AdyaLevels::prove(const Path& cycle) const {
  Proof proof;
  ProofStep step;
  ProofStep last;
  last.kind = ProofStep::Kind::derived;
  const auto state = [&](uint32_t stated) { last.hints.push_back(prove_stated(stated, proof)); };
  for (const uint32_t i : cycle) {
    const Dependency& d = deps_.all()[i];
    Edge edge;
    edge.kind = d.kind;
    edge.from = problem_.txn[d.from];
    edge.to = problem_.txn[d.to];
    edge.key = d.key;
    edge.op = d.op;
    if (d.via != kNone) edge.via = problem_.txn[problem_.writes.node[d.via]];
    if (d.kind == EdgeKind::write_dependency) state(d.stated);
    if (d.kind == EdgeKind::anti_dependency && d.via != kNone && d.chain == kNone)
      state(deps_.statement(d.via, d.to));
    if (d.chain != kNone) {
      // Were the overwriting version before the one read, the versions between would close a cycle.
      ProofStep between;
      for (const uint32_t stated : deps_.chain(d.chain)) {
        state(stated);
        between.cycle.push_back(
            written_after(deps_.stated(stated).before, deps_.stated(stated).after, d.key));
      }
      between.cycle.push_back(written_after(d.to, problem_.writes.node[d.via], d.key));
      last.hints.push_back(static_cast<uint32_t>(proof.steps.size()));
      proof.steps.push_back(std::move(between));
    }
    step.cycle.push_back(edge);
  }
  last.hints.push_back(static_cast<uint32_t>(proof.steps.size()));
  proof.steps.push_back(std::move(step));
  if (last.hints.size() > 1) proof.steps.push_back(std::move(last));
  return proof;
}

// In either order of the two updates one is lost: the transaction that comes later read what the other overwrote.
Proof AdyaLevels::prove(const Divergence& divergence) const {
  Proof proof;
  ProofStep last;
  last.kind = ProofStep::Kind::derived;
  for (const int later : {0, 1}) {
    const Node loser = divergence.node[later], winner = divergence.node[1 - later];
    const ExternalRead& read = divergence.read[later];
    Edge anti =
        Edge::anti_dependency(problem_.txn[loser], problem_.txn[winner], read.key, kNone, read.op);
    if (read.write != kNone) {
      const Node source = problem_.writes.node[read.write];
      anti.via = problem_.txn[source];
      last.hints.push_back(
          prove_update(source, winner, read.key, divergence.read[1 - later].op, proof));
    }
    last.hints.push_back(static_cast<uint32_t>(proof.steps.size()));
    proof.steps.emplace_back().cycle = {std::move(anti), written_after(winner, loser, read.key)};
  }
  proof.steps.push_back(std::move(last));
  return proof;
}

}  // namespace assay::internal
