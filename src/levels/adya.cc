// Adya's levels: which kinds of dependencies may not close a cycle.
//
//   pl-1     write dependencies alone (G0)
//   pl-2     write and read dependencies (G1c)
//   pl-cs    the same, and a lost update: a transaction reads a version of a key and overwrites a
//            later one (G-cursor)
//   pl-2+    the same, with one anti-dependency (G-single)
//   pl-2.99  with any number of anti-dependencies, at least one of them on a key that was read, not
//            on one that a range found absent (G2-item)
//   pl-3     anything (G2)
//
//   s1: { r(l,[]) a(m,1) }   s2: { r(m,[]) a(l,1) }
//   T1 -rw l-> T2 -rw m-> T1: no cycle with one anti-dependency, so pl-2+ holds; pl-2.99 does not.
//
// At pl-cs and above, two transactions that read one version of a key and overwrite it are a
// refutation by themselves: whichever was first, the other lost its update.
//
// The version order must be known (dependencies.h). A forbidden cycle of dependencies that the
// history certainly has refutes the level. Otherwise one order of the transactions serves every
// level that holds: it follows write and read dependencies, keeps transactions on a common cycle
// together, and puts versions that were never read last. The full graph is acyclic iff all of it
// runs forwards in this order; an anti-dependency is on a cycle iff its ends are in one component;
// and a path that closes a cycle with one anti-dependency lies between the anti-dependency's ends
// in the order, so only edges that run backwards are examined, each between its ends. Histories
// rarely have such an edge that closes no cycle.
//
// If an order was found that explains what each transaction saw, and each version is stated to
// follow the one before, none of this is needed: that order serves all of these levels (walk.cc).
//
// Should the assumed order of unread versions close a forbidden cycle that is not there without it,
// the verdict is unknown; another order might not. That can happen for pl-cs and pl-2+ only.
//
// Cost: linear, with a logarithm for sorting, except for pl-2+, where it is the edges between the
// ends of anti-dependencies that run backwards. Definitions: Adya 1999; names as in Clark et al.
// 2024.

#include "levels/adya.h"

#include <algorithm>
#include <span>
#include <tuple>

#include "base/sort_by.h"
#include "graph/components.h"
#include "infer/hint.h"
#include "levels/adya_proof.h"

namespace assay::internal {
namespace {

constexpr size_t kCyclesTried = 64;  // in search of a short one

}  // namespace

AdyaLevels::AdyaLevels(const Problem& problem, UpdateOrders updates)
    : problem_(problem), deps_(problem, updates) {}

// Prepares what the levels share. False if the budget ran out.
bool AdyaLevels::prepare(Budget& budget) {
  if (prepared_) return true;
  if (!deps_.find(budget)) return false;
  rank_.resize(problem_.nodes());
  const std::vector<Node> by_time = by_write_time(problem_.hint);
  for (uint32_t i = 0; i < by_time.size(); ++i) rank_[by_time[i]] = i;
  return prepared_ = take_dependencies(budget);
}

// Takes over the dependencies. Usually they have no cycle, and one order is enough for every level.
bool AdyaLevels::take_dependencies(Budget& budget) {
  const std::vector<Dependency>& all = deps_.all();
  if (!budget.has_room(sizeof(Arc) * all.size() + Digraph::bytes(problem_.nodes(), all.size())))
    return false;
  {
    std::vector<Arc> arcs;
    arcs.reserve(all.size());
    for (const Dependency& d : all) arcs.push_back({d.from, d.to});
    const Digraph graph(problem_.nodes(), arcs);
    if (!budget.has_room(topological_order_bytes(graph))) return false;
    order_ = topological_order(graph, rank_);
  }
  acyclic_ = order_.size() == problem_.nodes();
  return acyclic_ || (build_graphs(budget) && put_in_order(budget));
}

bool AdyaLevels::build_graphs(Budget& budget) {
  const std::vector<Dependency>& all = deps_.all();
  // Each dependency is in at most three lists and graphs; the largest is sorted with a buffer and
  // as arcs.
  const uint64_t lists = 3 * sizeof(uint32_t) * all.size() + sizeof(Arc) * all.size();
  if (!budget.has_room(lists + 3 * Digraph::bytes(problem_.nodes(), all.size()))) return false;
  const auto is_write = [](EdgeKind k) { return k == EdgeKind::write_dependency; };
  const auto is_no_anti = [](EdgeKind k) { return k != EdgeKind::anti_dependency; };
  writes_ = DependencyGraph(all, problem_.nodes(), is_write);
  depends_ = DependencyGraph(all, problem_.nodes(), is_no_anti);
  every_ = DependencyGraph(all, problem_.nodes(), [](EdgeKind) { return true; });
  return true;
}

bool AdyaLevels::put_in_order(Budget& budget) {
  const Digraph& full = every_.graph();
  if (!budget.has_room(2 * topological_order_bytes(full) + cycle_search_bytes(full))) return false;
  write_order_ = topological_order(writes_.graph(), rank_);
  order_ = topological_order(depends_.graph(), rank_);
  if (order_.size() < problem_.nodes()) return true;
  Components components = strong_components(full);
  component_ = std::move(components.of);
  place_.resize(problem_.nodes());
  for (uint32_t i = 0; i < order_.size(); ++i) place_[order_[i]] = i;
  std::vector<uint32_t> earliest(components.count, kNone);
  for (const Node n : order_)
    earliest[component_[n]] = std::min(earliest[component_[n]], place_[n]);
  const std::vector<uint32_t>& every = every_.dependencies();
  if (!budget.has_room(sizeof(Arc) * every.size() + Digraph::bytes(components.count, every.size())))
    return false;
  std::vector<Arc> arcs;
  arcs.reserve(every.size());
  for (const uint32_t i : every) {
    const Arc arc{component_[deps_.all()[i].from], component_[deps_.all()[i].to]};
    if (arc.from != arc.to) arcs.push_back(arc);
  }
  const std::vector<Vertex> between = topological_order(Digraph(components.count, arcs), earliest);
  for (uint32_t i = 0; i < between.size(); ++i) earliest[between[i]] = i;  // now: its place
  stable_sort_by(order_, [&](Node n) { return earliest[component_[n]]; });
  for (uint32_t i = 0; i < order_.size(); ++i) place_[order_[i]] = i;
  return true;
}

// Finds the version orders. False if the budget ran out.
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
  const uint64_t searching =
      cycle_search_bytes(every_.graph()) + sizeof(uint32_t) * problem_.nodes();
  Path cycle;
  const LevelInfo& row = problem_.history->level(level);
  if (prepare(budget) && budget.has_room(searching)) cycle = forbidden(row, budget);
  if (cycle.empty() && !asked_ && !budget.exhausted_now() && know_version_orders(budget) &&
      assumed_)
    cycle = forbidden(row, budget);
  const bool loses_updates =
      std::ranges::any_of(row.forbidden, &ForbiddenCycle::holds_anti_dependencies) && prepared_ &&
      deps_.divergence();
  if (!cycle.empty() && !assumes(cycle))
    return Judgement::violated(prove_cycle(problem_, deps_, cycle));
  if (loses_updates) return Judgement::violated(prove_divergence(problem_, *deps_.divergence()));
  if (budget.exhausted_now()) return Judgement::unknown(budget.reason());
  if (!cycle.empty())
    return Judgement::unknown(
        {UnknownCause::lacks_order,
         "the history does not state the order of versions that were never read"});
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

// Cycles with an anti-dependency are looked for only if there is no cycle without one.
AdyaLevels::Path AdyaLevels::find(const ForbiddenCycle& kind, Budget& budget) const {
  if (kind.one_key) return lost_update();
  if (!kind.once.empty()) return kind.any == "wr" ? one_anti(budget) : item_cycle(budget);
  if (write_order_.size() < problem_.nodes()) return writes_.cycle();
  if (kind.any == "w") return {};
  if (order_.size() < problem_.nodes()) return depends_.cycle();
  return kind.any == "wr" ? Path() : every_.cycle();
}

// A transaction that read a version of a key and wrote a later one that is not the next.
AdyaLevels::Path AdyaLevels::lost_update() const {
  std::vector<uint32_t> by_key = writes_.dependencies();  // sorted by their earlier version
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
  for (const uint32_t i : every_.dependencies()) {
    const Dependency& anti = all[i];
    if (anti.kind != EdgeKind::anti_dependency || !anti.item ||
        place_[anti.to] > place_[anti.from] || problem_.write_of(anti.from, anti.key) == kNone)
      continue;
    // Goes from the overwriting version to the reader's own, each time to the nearest version that
    // is stated to follow.
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

// Searches backwards from each reader whose anti-dependency runs against the order, as far as the
// transaction that overwrote the version it read may be met.
AdyaLevels::Path AdyaLevels::one_anti(Budget& budget) const {
  const std::vector<Dependency>& all = deps_.all();
  const std::vector<uint32_t>& every = every_.dependencies();
  std::vector<Node> seen_from(problem_.nodes(), kNone), queue;
  for (size_t i = 0; i < every.size();) {
    const Node reader = all[every[i]].from;
    uint32_t earliest = place_[reader];
    size_t end = i;
    for (; end < every.size() && all[every[end]].from == reader; ++end)
      if (all[every[end]].kind == EdgeKind::anti_dependency)
        earliest = std::min(earliest, place_[all[every[end]].to]);
    if (earliest < place_[reader]) {
      queue.assign(1, reader);
      seen_from[reader] = reader;
      for (size_t at = 0; at < queue.size(); ++at) {
        if (budget.exhausted()) return {};
        depends_.graph().each_in(queue[at], [&](Vertex v) {
          if (place_[v] >= earliest && seen_from[v] != reader) {
            seen_from[v] = reader;
            queue.push_back(v);
          }
          return true;
        });
      }
      for (size_t e = i; e < end; ++e) {
        if (all[every[e]].kind != EdgeKind::anti_dependency ||
            seen_from[all[every[e]].to] != reader)
          continue;
        Path path = depends_.way(all[every[e]].to, reader);
        path.push_back(every[e]);
        return path;
      }
    }
    i = end;
  }
  return {};
}

// Finds an anti-dependency on a key that was read, within a component, and the shortest cycle of a
// few that were tried. Readers that write the key themselves are left out: they have lost an
// update, or wrote the next version, and did not overwrite what comes after that.
AdyaLevels::Path AdyaLevels::item_cycle(Budget& budget) const {
  const std::vector<Dependency>& all = deps_.all();
  Path best;
  size_t tried = 0;
  for (const uint32_t i : every_.dependencies()) {
    const Dependency& anti = all[i];
    if (anti.kind != EdgeKind::anti_dependency || !anti.item ||
        component_[anti.from] != component_[anti.to] ||
        problem_.write_of(anti.from, anti.key) != kNone)
      continue;
    if (++tried > kCyclesTried || budget.exhausted_now()) break;
    Path path = every_.way(anti.to, anti.from);
    path.push_back(i);
    if (best.empty() || path.size() < best.size()) best = std::move(path);
    if (best.size() == 2) break;
  }
  return best;
}

bool AdyaLevels::assumes(const Path& cycle) const {
  return std::any_of(cycle.begin(), cycle.end(), [this](uint32_t i) {
    const Dependency& d = deps_.all()[i];
    return d.assumed || (d.kind == EdgeKind::write_dependency && d.stated == kNone);
  });
}

}  // namespace assay::internal
