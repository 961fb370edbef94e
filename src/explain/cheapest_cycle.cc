// The cycle of a proof is the one that the search met first: often longer than needed, and silent
// about why two writers must be in the assumed order. The transactions of a witness are few, so
// here is the cheapest cycle among all of them:
//
//   A: w(x,1)   B: r(x,1) w(x,2)   C: r(x,1) w(x,3)
//   B → C  since B read x = 1, which C overwrote (C itself read 1 first, so 1 came before 3)
//   C → B  in the same way
//
// The known edges are those of the event graph (infer/event_graph.h). Added to them are the orders
// of two writers that something shows: the later one read the earlier one's version, known edges
// lead from one to the other, the history states it, or the proof forces it. Each costs more than
// the one before, and so do the anti-dependencies that follow from it. Dijkstra's algorithm from
// each event finds the cheapest cycle: O(n³) for n transactions, n ≤ 160.
#include <algorithm>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

#include "explain/cycle.h"
#include "infer/event_graph.h"

namespace assay::internal {
namespace {

constexpr uint32_t kMostOfWitness = 160;
// The cost of an edge, and of what makes it harder to explain.
constexpr uint32_t kEdgeCost = 100, kOwnCost = 1, kOfTime = 10, kOfWriters = 20,
                   kOfProvedWriters = 40;
// The cost of what justifies an order.
constexpr uint32_t kShown = 10, kPathEdge = 20, kProof = 150;

class WitnessGraph {
 public:
  WitnessGraph(const Problem& problem, const LevelInfo& level)
      : problem_(problem), events_(problem, level), out_(events_.graph().vertices()) {
    for (Vertex v = 0; v < out_.size(); ++v)
      events_.graph().each_out(v, [&](Vertex to) {
        out_[v].push_back(known(v, to));
        return true;
      });
  }

  // Adds orders of writers, the best reason first: a later one does not replace it.
  void add_orders(const Conclusion& conclusion) {
    find_writers();
    for (Node n = 0; n < problem_.nodes(); ++n)
      for (const ExternalRead& read : problem_.reads[n])
        if (read.write != kNone && problem_.write_of(n, read.key) != kNone)
          know(problem_.writes.node[read.write], n, {{}, Step::Because::read_first});
    add_paths();
    for (const StatedOrder& stated : problem_.stated)
      know(stated.before, stated.after,
           {{}, Step::Because::stated, {}, stated.source_is_op ? stated.source : kNone});
    for (const Forced& forced : conclusion.forced)
      know(problem_.node_of(forced.literal.from), problem_.node_of(forced.literal.to),
           {{}, Step::Because::proof, {}, forced.step});
    for (const auto& [pair, order] : orders_) add_write_dependency(pair.first, pair.second, order);
    for (Node n = 0; n < problem_.nodes(); ++n)
      for (const ExternalRead& read : problem_.reads[n])
        if (read.write != kNone) add_anti_dependencies(n, read);
  }

  FoundCycle cheapest() const {
    FoundCycle best;
    for (Vertex v = 0; v < events_.events(); ++v) {
      const Ways ways = ways_from(v, best.cost, false);
      if (ways.cost[v] < best.cost) best = {steps_to(v, ways), ways.cost[v]};
    }
    return best;
  }

 private:
  struct Way {
    Vertex to;
    uint32_t cost;
    uint32_t step;  // index into steps_; kNone: a known edge, or part of a path through helpers
    bool path;      // may be on the path from one writer to another: it is not an anti-dependency
  };
  struct Ways {
    Vertex from;
    std::vector<uint32_t> cost;  // UINT32_MAX: there is no way
    std::vector<Vertex> previous;
    std::vector<uint32_t> step;
  };
  using Pair = std::pair<Node, Node>;

  Way known(Vertex from, Vertex to) const {
    if (!events_.is_event(from)) return {to, 0, kNone, true};
    const bool own = events_.is_event(to) && events_.node_of(from) == events_.node_of(to);
    if (own) return {to, kOwnCost, kNone, true};
    const bool direct = events_.is_event(to);
    const Edge edge = direct ? events_.reason(from, {}, to) : events_.reason(from, {&to, 1}, from);
    const bool of_time = edge.kind == EdgeKind::real_time;
    return {to, kEdgeCost + (of_time ? kOfTime : 0), kNone, edge.kind != EdgeKind::anti_dependency};
  }

  void find_writers() {
    for (KeyId key = 0; key < problem_.keys(); ++key)
      for (const WriteId a : problem_.key_writers(key))
        for (const WriteId b : problem_.key_writers(key))
          if (a != b) keys_.emplace(Pair(problem_.writes.node[a], problem_.writes.node[b]), key);
  }

  void know(Node before, Node after, Step why) {
    if (keys_.contains({before, after})) orders_.emplace(Pair(before, after), std::move(why));
  }

  void add_paths() {
    for (Node n = 0; n < problem_.nodes(); ++n) {
      const Ways ways = ways_from(events_.write_event(n), UINT32_MAX, true);
      for (auto at = keys_.lower_bound({n, 0}); at != keys_.end() && at->first.first == n; ++at) {
        const Node later = at->first.second;
        if (ways.cost[events_.write_event(later)] == UINT32_MAX) continue;
        Step why{{}, Step::Because::path};
        for (Step& step : steps_to(events_.write_event(later), ways))
          why.path.push_back(std::move(step.edge));
        know(n, later, std::move(why));
      }
    }
  }

  static uint32_t price(const Step& s) {
    if (s.because == Step::Because::path) return kPathEdge * static_cast<uint32_t>(s.path.size());
    return s.because == Step::Because::proof ? kProof : kShown;
  }

  void add(Vertex from, Vertex to, uint32_t cost, Step step) {
    out_[from].push_back({to, cost, static_cast<uint32_t>(steps_.size()), false});
    steps_.push_back(std::move(step));
  }

  // A cycle that shows what a read missed says more than a cycle of writers in a proved order.
  void add_write_dependency(Node before, Node after, Step step) {
    step.edge.kind = EdgeKind::write_dependency;
    step.edge.from = problem_.txn[before];
    step.edge.to = problem_.txn[after];
    step.edge.key = keys_.at({before, after});
    const bool proved = step.because == Step::Because::proof;
    const uint32_t cost = kEdgeCost + (proved ? kOfProvedWriters : kOfWriters) + price(step);
    add(events_.write_event(before), events_.overwrite_event(after), cost, std::move(step));
  }

  void add_anti_dependencies(Node reader, const ExternalRead& read) {
    const Node source = problem_.writes.node[read.write];
    for (const WriteId write : problem_.key_writers(read.key)) {
      const Node writer = problem_.writes.node[write];
      const auto order = orders_.find({source, writer});
      if (writer == reader || order == orders_.end()) continue;
      Step step = order->second;
      step.edge.kind = EdgeKind::anti_dependency;
      step.edge.from = problem_.txn[reader];
      step.edge.to = problem_.txn[writer];
      step.edge.via = problem_.txn[source];
      step.edge.key = read.key;
      step.edge.op = read.op;
      const uint32_t cost = kEdgeCost + price(step);
      add(events_.read_event(reader), events_.write_event(writer), cost, std::move(step));
    }
  }

  // The cheapest ways from one event to all others, and back to itself, if they cost less than
  // `bound`.
  Ways ways_from(Vertex from, uint32_t bound, bool paths_only) const {
    Ways ways{from, std::vector<uint32_t>(out_.size(), UINT32_MAX),
              std::vector<Vertex>(out_.size(), kNone), std::vector<uint32_t>(out_.size(), kNone)};
    using Item = std::pair<uint32_t, Vertex>;
    std::priority_queue<Item, std::vector<Item>, std::greater<>> queue;
    const auto relax = [&](Vertex v, uint32_t so_far) {
      for (const Way& way : out_[v]) {
        const uint32_t cost = so_far + way.cost;
        if (cost >= ways.cost[way.to] || cost >= bound || way.path < paths_only) continue;
        ways.cost[way.to] = cost;
        ways.previous[way.to] = v;
        ways.step[way.to] = way.step;
        queue.emplace(cost, way.to);
      }
    };
    relax(from, 0);
    while (!queue.empty()) {
      const auto [cost, v] = queue.top();
      queue.pop();
      // A way that returns to its beginning ends there.
      if (cost == ways.cost[v] && v != from) relax(v, cost);
    }
    return ways;
  }

  Cycle steps_to(Vertex to, const Ways& ways) const {
    Cycle steps;
    std::vector<Vertex> helpers;
    Vertex v = to;
    do {
      uint32_t step = ways.step[v];
      Vertex before = ways.previous[v];
      helpers.clear();
      for (; !events_.is_event(before); before = ways.previous[before])
        helpers.insert(helpers.begin(), before);
      if (step != kNone)
        steps.push_back(steps_[step]);
      else if (events_.node_of(before) != events_.node_of(v))
        join(steps, events_.reason(before, helpers, v));
      v = before;
    } while (v != ways.from);
    std::reverse(steps.begin(), steps.end());
    return steps;
  }

  // Joins steps within one session into one.
  static void join(Cycle& later, Edge edge) {
    if (!later.empty() && edge.kind == EdgeKind::session &&
        later.back().edge.kind == EdgeKind::session)
      later.back().edge.from = edge.from;
    else
      later.push_back({std::move(edge)});
  }

  const Problem& problem_;
  const EventGraph events_;
  std::vector<std::vector<Way>> out_;  // indexed by vertex
  std::vector<Step> steps_;            // orders of writers and what follows from them
  std::map<Pair, KeyId> keys_;         // for two writers, the smallest key that both write
  std::map<Pair, Step> orders_;        // the edges in these steps are not set
};

}  // namespace

FoundCycle cheapest_cycle(const History& history, const LevelInfo& level,
                          const Conclusion& conclusion) {
  if (history.txn_count() > kMostOfWitness) return {};
  const Problem problem = make_problem(history);
  WitnessGraph graph(problem, level);
  graph.add_orders(conclusion);
  return graph.cheapest();
}

}  // namespace assay::internal
