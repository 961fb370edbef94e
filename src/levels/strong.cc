// One engine for every level whose events need one total order.
//
//   1. replay       propose an order from the hint and replay it; if that succeeds, the order is
//                   the certificate
//   2. known graph  everything that holds whatever the version orders are, and what follows from
//                   read-modify-writes; a cycle in it refutes
//   3. replay       the known graph, in the order of the hint; when no event is enabled, one is
//                   forced, so the order is complete but has *faults*: two writers whose order
//                   makes a read return the wrong version
//   4. search       only for what goes wrong: which of two writers came first, what a read with
//                   several possible sources saw, which transactions of unknown outcome took
//                   effect (choices.cc). The solver chooses sides that leave the graph acyclic;
//                   its order is replayed, and its faults become new choices. No fault: satisfied,
//                   except for skipped rows (infer/skipped_rows.h), which are examined only then
//                   and become choices if the order contradicts them. A contradiction: violated,
//                   since every order has to make these choices.
//   5. saturation   if step 4 meets more conflicts than a sound history has: the version orders
//                   that known edges force, to a fixpoint; a cycle refutes. Then 3 and 4 again on
//                   the saturated graph, starting from the order so far.
//
// If sessions are not chains and only reads say when events took place, saturation comes before the
// search, and an estimate of all places (infer/places.cc) gives the order that 3 and 4 start from.
//
// Without session order, little keeps events in their places. At such levels the search assumes
// some session order (infer/assumed_sessions.cc), and drops an assumption once a contradiction
// rests on it. An order found this way is an order of the level, and no refutation rests on an
// assumption.
//
// If values repeat so much that reads have many possible sources, an order is first looked for by
// what keys hold (prefix_search/value_beam.cc).
//
// The search never sees a pair of writers unless an order that was tried got it wrong, so hot keys
// with thousands of writers cost nothing by themselves. It ends, because every round excludes an
// order.
//
// Cost: 1 to 3 are linear; 5 is reads × sessions, or × the words of a row of bits; 4 is exponential
// at worst and a handful of conflicts on histories.

#include "levels/strong.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/sort_by.h"
#include "infer/assumed_sessions.h"
#include "infer/constraints.h"
#include "infer/hint.h"
#include "infer/narrow_sources.h"
#include "infer/open_reads.h"
#include "infer/places.h"
#include "infer/saturation.h"
#include "infer/schedule.h"
#include "infer/scheduler.h"
#include "infer/updates.h"
#include "levels/choices.h"
#include "levels/proof_builder.h"
#include "prefix_search/value_beam.h"

namespace assay::internal {
namespace {

// The number of conflicts in a search before saturation. Without session order, it takes about as
// long as saturation.
constexpr uint64_t kEarlyConflicts = 10'000;
constexpr uint64_t kEarlyConflictsPerNode = 2;
constexpr uint64_t kEarlyConflictsWithoutSessions = 1'000;
constexpr uint64_t kNodesPerEarlyConflictWithoutSessions = 4;

constexpr uint64_t kBytesOfOrder = 16;  // per vertex of an IncrementalOrder

SaturationRules saturation_rules(const SpeedUps& s) {
  return {s.has(SpeedUp::anti_dependency_rule), s.has(SpeedUp::write_dependency_rule),
          s.has(SpeedUp::begin_rule), s.has(SpeedUp::combined_writes),
          s.has(SpeedUp::closure) ? UINT32_MAX : 0};
}

// Makes version orders that the history states known edges, with the statement as their reason.
void add_stated_orders(EventGraph& events, KnownEdges& known) {
  for (const StatedOrder& order : events.problem().stated) {
    ForcedOrder forced;
    forced.why = ForcedOrder::Why::stated;
    forced.before = order.before;
    forced.after = order.after;
    forced.key = order.key;
    forced.source = order.source;
    forced.source_is_op = order.source_is_op;
    DerivedEdge edge;
    edge.arc = {events.write_event(order.before), events.overwrite_event(order.after)};
    edge.key = order.key;
    edge.forced = static_cast<uint32_t>(known.forced.size());
    known.forced.push_back(forced);
    known.edges.push_back(edge);
    events.graph().add(edge.arc);
  }
}

// Positions of the vertices by the hint; helpers come as early as they may.
std::vector<uint32_t> ranks(const EventGraph& events) {
  const std::vector<Vertex> by_hint = events_by_hint(events.problem().hint, events);
  std::vector<uint32_t> rank(events.graph().vertices(), 0);
  for (uint32_t i = 0; i < by_hint.size(); ++i) rank[by_hint[i]] = i + 1;
  return rank;
}

// Makes the order of every two neighbouring writers of a key a choice, unless an edge decides it.
// If only reads place events, correcting one of these orders usually spoils others.
void choose_neighbours(const EventGraph& events, std::span<const Vertex> order, Search& search) {
  const Problem& problem = events.problem();
  std::vector<Node> last(problem.keys(), kNone);
  for (const Vertex v : order) {
    if (!events.writes(v)) continue;
    const Node n = events.node_of(v);
    for (const WriteId write : problem.writes.of(n)) {
      const Node before = std::exchange(last[problem.writes.key[write]], n);
      if (before == kNone) continue;
      const Arc arc{events.write_event(before), events.overwrite_event(n)};
      if (events.graph().find(arc) == Digraph::kEnd)
        search.order_of(problem.txn[before], problem.txn[n]);
    }
  }
}

// For mixed levels: the reads of a node with one event come right before its writes.
Order events_in(const EventGraph& events, std::span<const Vertex> vertices) {
  Order order;
  order.split = true;
  for (const Vertex v : vertices) {
    if (!events.reads(v) && !events.writes(v)) continue;
    const TxnId t = events.problem().txn[events.node_of(v)];
    if (events.reads(v)) order.events.push_back(2 * t);
    if (events.writes(v)) order.events.push_back(2 * t + 1);
  }
  return order;
}

class Engine {
 public:
  Engine(const Problem& problem, const LevelInfo& level, const CheckOptions& options,
         Stages& stages, Budget& budget, const FindContradicted* contradicted,
         const FindWeakFaults* find_weak_faults)
      : problem_(problem),
        options_(options),
        stages_(stages),
        budget_(budget),
        contradicted_(contradicted),
        find_weak_faults_(find_weak_faults),
        graph_(problem, level) {}

  Judgement decide() {
    if (!start()) return std::move(judgement_);
    if (decide_with_sessions()) return std::move(judgement_);
    if (!room(kBytesOfOrder * graph_.graph().vertices())) return std::move(judgement_);
    IncrementalOrder order(graph_.graph(), initial_);
    Saturation saturation(graph_, order, known_, saturation_rules(options_.speed_ups));
    const bool can_saturate = options_.speed_ups.has(SpeedUp::saturation) &&
                              !graph_.mixes_levels() && saturation.affordable();
    const bool places = can_saturate && only_reads_place(saturation);
    const bool search_first =
        options_.speed_ups.has(SpeedUp::early_search) && assumed_.rows() == 0 && !places;
    const uint64_t first_conflicts = can_saturate ? early_conflicts() : UINT64_MAX;
    if ((!can_saturate || search_first) &&
        decide(order.order(), first_conflicts) == Result::decided)
      return std::move(judgement_);
    if (can_saturate && saturate(saturation, order)) {
      clocks_ = saturation.clocks();
      if (places && !place(order)) return std::move(judgement_);
      decide(order.order(), UINT64_MAX);
    }
    return std::move(judgement_);
  }

  // Accepts by an order in which keys hold the values that were read; unknown if none is found
  // soon.
  Judgement accept_by_values() {
    if (!start()) return std::move(judgement_);
    const std::optional<ValueOrder> found = find_by_values();
    if (found && room(topological_order_bytes(graph_.graph()))) {
      std::fill(rank_.begin(), rank_.end(), 0u);
      for (uint32_t i = 0; i < found->events.size(); ++i) rank_[found->events[i]] = i + 1;
      accept({.order = topological_order(graph_.graph(), rank_),
              .accepted = true,
              .effective = found->effective});
    }
    if (judgement_.outcome() == Outcome::unknown && budget_.exhausted_now()) out_of_budget();
    return std::move(judgement_);
  }

 private:
  enum class Result : uint8_t { decided, too_hard };

  bool lazy() const { return options_.speed_ups.has(SpeedUp::lazy_choices); }

  std::optional<ValueOrder> find_by_values() {
    constexpr uint64_t kFewStates = 8'000'000, kStatesATxn = 500;
    const auto timer = stages_.time("values");
    Budget asked = budget_;  // if there is no memory for it, the search goes on without it
    std::optional<ValueOrder> found = search_by_values(
        problem_, graph_.level(), kFewStates + kStatesATxn * problem_.nodes(), asked);
    budget_.spend(asked.spent() - budget_.spent());
    return found;
  }

  // Whether only reads say when events took place: then known edges, and the versions of a key in
  // turn, say more than the hint. False for few transactions, which are searched as fast.
  bool only_reads_place(const Saturation& saturation) const {
    constexpr size_t kMany = 8'000;
    return problem_.nodes() >= kMany && options_.speed_ups.has(SpeedUp::places) &&
           problem_.hint.by_reads && problem_.open == nullptr && saturation.clocks() == nullptr &&
           assumed_.rows() == 0;
  }
  // Returns false if there is no memory.
  bool place(IncrementalOrder& order) {
    const auto timer = stages_.time("places");
    if (!room(place_bytes(graph_))) return false;
    order.renew(order_by_places(graph_, order.order()));
    // If memory does not suffice for all choices, the search makes only the choices that an order
    // gets wrong.
    constexpr uint64_t kBytesAChoice = 250;
    Budget asked = budget_;
    neighbours_first_ = asked.has_room(kBytesAChoice * problem_.writes.size());
    return true;
  }

  uint64_t early_conflicts() const {
    return graph_.level().session_order
               ? kEarlyConflicts + kEarlyConflictsPerNode * problem_.nodes()
               : kEarlyConflictsWithoutSessions +
                     problem_.nodes() / kNodesPerEarlyConflictWithoutSessions;
  }
  void satisfied(std::span<const Vertex> order, const Choices& choices) {
    judgement_ = Judgement::satisfied(graph_.mixes_levels() ? events_in(graph_, order)
                                                            : order_of_events(order, choices));
  }
  Order order_of_events(std::span<const Vertex> order, const Choices& choices) const {
    std::vector<Node> effective = problem_.possible;
    std::erase_if(effective, [&](Node n) { return !choices.takes_effect(n); });
    return to_order(problem_, graph_.split(), order, effective);
  }
  template <class Make>
  void violated(Make proof) {
    const auto timer = stages_.time("certify");
    judgement_ = Judgement::violated(proof());
  }
  void out_of_budget() { judgement_ = Judgement::unknown(budget_.reason()); }
  bool room(uint64_t bytes) {
    if (budget_.has_room(bytes)) return true;
    out_of_budget();
    return false;
  }

  bool start() {
    const auto timer = stages_.time("graph");
    const uint64_t vertices = graph_.graph().vertices();
    const uint64_t sorting = (sizeof(int64_t) + sizeof(Vertex) + 4) * graph_.events();
    if (!room(sorting + sizeof(uint32_t) * vertices + topological_order_bytes(graph_.graph())))
      return false;
    add_stated_orders(graph_, known_);
    if (options_.speed_ups.has(SpeedUp::update_facts) && !add_updates(graph_, known_, budget_)) {
      out_of_budget();
      return false;
    }
    rank_ = ranks(graph_);
    return order_known_graph();
  }

  bool order_known_graph() {
    initial_ = topological_order(graph_.graph(), rank_);
    if (initial_.size() == graph_.graph().vertices()) return true;
    if (!room(cycle_search_bytes(graph_.graph()))) return false;
    violated([&] { return ProofBuilder(graph_, known_).from_cycle(find_cycle(graph_.graph())); });
    return false;
  }

  bool saturate(Saturation& saturation, const IncrementalOrder& order) {
    const auto timer = stages_.time("saturate");
    const Saturation::Result result = saturation.run(budget_);
    stages_.count("saturation rounds", saturation.rounds());
    stages_.count("derived edges", known_.edges.size());
    if (result == Saturation::Result::out_of_budget) out_of_budget();
    if (result == Saturation::Result::cycle) {
      violated([&] {
        return ProofBuilder(graph_, known_, &order).from_closing_edge(saturation.closing_edge());
      });
    }
    if (options_.count_constraints && result == Saturation::Result::fixpoint &&
        saturation.clocks() != nullptr)
      count(*saturation.clocks());
    return result == Saturation::Result::fixpoint;
  }

  void count(const SessionClocks& clocks) {
    const auto timer = stages_.time("count");
    const auto before =
        count_constraints(problem_, InitialWrites::every_key, [](Node, Node) { return true; });
    if (!before) return;
    const auto open = [&](Node a, Node b) { return !clocks.ordered(a, b); };
    const auto after = count_constraints(problem_, InitialWrites::none, open);
    stages_.count("constraints before saturation", before->constraints);
    stages_.count("constraints after saturation", after->constraints);
    stages_.count("unknown dependencies before", before->dependencies);
    stages_.count("unknown dependencies after", after->dependencies);
  }

  // Assumes session order at a level without it. True if that decided the level.
  bool decide_with_sessions() {
    if (graph_.level().session_order || !options_.speed_ups.has(SpeedUp::assumed_sessions))
      return false;
    // Each node needs a place in its session, and hardly more than five arcs.
    if (!room((sizeof(Node) + 5 * sizeof(Arc)) * problem_.nodes())) return true;
    Rows<Arc> assumed = assumed_sessions(graph_);
    if (assumed.rows() == 0) return false;
    if (!room(graph_.graph().bytes_to_add(assumed.items.size()))) return true;
    graph_.graph().reserve_to_add(assumed.items.size());
    for (const Arc& arc : assumed.items) graph_.graph().add(arc);
    const std::vector<Vertex> order = topological_order(graph_.graph(), rank_);
    const bool possible = order.size() == graph_.graph().vertices();
    std::optional<Schedule> schedule = possible ? std::optional(play(order)) : std::nullopt;
    for (size_t i = 0; i < assumed.items.size(); ++i) graph_.graph().pop();
    const Schedule first = schedule ? *std::move(schedule) : play(initial_);
    if (accept(first)) return true;
    // The memory that the search keeps for each assumption. Without memory for them, it does
    // without assumptions.
    constexpr uint64_t kBytesAnAssumption = 200;
    if (Budget asked = budget_; !asked.has_room(kBytesAnAssumption * assumed.rows())) return false;
    assumed_ = std::move(assumed);
    return search_from(first, early_conflicts()) == Result::decided;
  }

  // Replays and searches the graph as it is.
  Result decide(std::span<const Vertex> order, uint64_t most_conflicts) {
    const Schedule schedule = play(order);
    return accept(schedule) ? Result::decided : search_from(schedule, most_conflicts);
  }

  // True if there is nothing left to do: the schedule is accepted, or the budget ran out.
  bool accept(const Schedule& schedule) {
    if (schedule.accepted && lazy()) {
      Choices choices(graph_, open_);
      const bool explained =
          open_ == nullptr || choices.explained_by(schedule.order, schedule.effective);
      if (explained && !add_rows(schedule.order, choices) && serves_weak_readers(schedule.order)) {
        satisfied(schedule.order, choices);
        return true;
      }
    }
    if (budget_.exhausted_now()) {
      out_of_budget();
      return true;
    }
    return !room(kBytesOfOrder * graph_.graph().vertices());
  }

  Schedule play(std::span<const Vertex> order) {
    const auto timer = stages_.time("replay");
    return schedule_by_graph(graph_, order, budget_);
  }

  // Assumes the sets of edges in the order of the hint.
  void assume_sessions(Search& search) const {
    std::vector<uint32_t> sets(assumed_.rows());
    std::iota(sets.begin(), sets.end(), 0u);
    stable_sort_by(sets, [&](uint32_t set) { return rank_[assumed_[set].front().to]; });
    for (const uint32_t set : sets) search.assume(assumed_[set]);
  }

  Result search_from(const Schedule& schedule, uint64_t most_conflicts) {
    IncrementalOrder order(graph_.graph(), schedule.order);
    const auto timer = stages_.time("search");
    Search search(problem_, graph_.level(), &graph_, open_, clocks_, graph_.graph(), order,
                  {.on = options_.speed_ups.has(SpeedUp::local_search)});
    assume_sessions(search);
    Choices choices(graph_, open_);
    if (!lazy()) choices.make_at_once(clocks_);
    if (neighbours_first_) choose_neighbours(graph_, order.order(), search);
    const auto check = [&](std::span<const Vertex> now) {
      if (choices.add_what_fails(now, search, budget_)) return true;
      if (!add_rows(now, choices)) return !serves_weak_readers(now, &search);
      search.take_in(*open_);
      return true;
    };
    switch (search.run(check, most_conflicts, stages_, budget_)) {
      case Search::Result::found:
        satisfied(order.order(), choices);
        return Result::decided;
      case Search::Result::out_of_budget:
        out_of_budget();
        return Result::decided;
      case Search::Result::too_hard:
        return Result::too_hard;
      case Search::Result::contradiction:
        violated([&] {
          return ProofBuilder(graph_, known_, &order).from_refutation(search.refutation(), search);
        });
        return Result::decided;
    }
    return Result::decided;
  }

  // Adds the skipped rows that an order contradicts. False if there are none, or if this search
  // cannot use them.
  bool add_rows(std::span<const Vertex> order, Choices& choices) {
    if (contradicted_ == nullptr || open_ == nullptr) return false;
    std::vector<SkippedRow> rows = (*contradicted_)(order_of_events(order, choices));
    // If the order is further off than this, sources are ruled out first, and a new search begins
    // with the remaining ones.
    constexpr size_t kFarOff = 64;  // nodes per row
    if (rows.empty() || rows.size() * kFarOff > problem_.nodes() || budget_.exhausted_now())
      return false;
    if (!grown_) grown_.emplace(*open_);
    std::erase_if(rows, [this](const SkippedRow& row) {
      return grown_->is_open(graph_.history().txn_of(row.query), row.key);
    });
    if (!grown_->add_rows(rows, problem_)) return false;
    open_ = &*grown_;
    choices.take_in(*open_);
    return true;
  }

  // For mixed levels: readers at weak levels have no part in the order of events, but what they
  // have seen forces edges. Returns whether the order contains these; if not, adds them to the
  // search. Also false if the budget runs out.
  bool serves_weak_readers(std::span<const Vertex> order, Search* search = nullptr) {
    if (find_weak_faults_ == nullptr) return true;
    const auto timer = stages_.time("weak readers");
    std::vector<Node> nodes;
    for (const Vertex v : order)
      if (graph_.writes(v)) nodes.push_back(graph_.node_of(v));
    std::vector<WeakFault> faults;
    if (!(*find_weak_faults_)(nodes, faults, budget_)) return false;
    stages_.count("edges forced by weak readers", faults.size());
    constexpr uint64_t kBytesAnEdge = 2 * sizeof(Edge) + 64;
    if (!budget_.has_room(kBytesAnEdge * faults.size())) return false;
    for (WeakFault& fault : search == nullptr ? std::span<WeakFault>() : std::span(faults)) {
      if (!fault.is_cycle()) {
        search->add_edge(std::move(fault.edges.front()), {});
        continue;
      }
      ProofStep cycle;
      cycle.cycle = std::move(fault.edges);
      search->add_clause({}, std::vector{std::move(cycle)});
    }
    return faults.empty();
  }

  const Problem& problem_;
  const CheckOptions& options_;
  Stages& stages_;
  Budget& budget_;
  const FindContradicted* contradicted_;
  const FindWeakFaults* find_weak_faults_;  // null: no reader is held to a weak level
  EventGraph graph_;
  KnownEdges known_;
  std::vector<uint32_t> rank_;  // indexed by vertex: its place by the hint
  std::vector<Vertex> initial_;
  const OpenReads* open_ = problem_.open.get();  // or its successor once rows were added
  std::optional<OpenReads> grown_;
  Rows<Arc> assumed_;  // each set of edges is assumed until a contradiction rests on it
  // Whether the orders of neighbouring writers are choices before an order gets them wrong.
  bool neighbours_first_ = false;
  const SessionClocks* clocks_ = nullptr;  // set once saturation has reached its fixpoint
  Judgement judgement_;
};

// Whether an order of all events has the writers of each key in the stated order.
bool follows(std::span<const Vertex> order, const std::vector<StatedOrder>& stated,
             const Events& events) {
  if (stated.empty()) return true;
  std::vector<uint32_t> place(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  return std::all_of(stated.begin(), stated.end(), [&](const StatedOrder& s) {
    return place[events.write_event(s.before)] < place[events.write_event(s.after)];
  });
}

}  // namespace

Order to_order(const Problem& problem, bool split, std::span<const Vertex> vertices,
               std::span<const Node> effective) {
  Order order;
  order.split = split;
  const size_t events = (split ? 2 : 1) * problem.nodes();
  order.events.reserve(events);
  for (Vertex v : vertices) {
    if (v >= events) continue;
    const Node n = split ? v / 2 : v;
    const bool left_out =
        problem.is_possible(n) && !std::binary_search(effective.begin(), effective.end(), n);
    if (left_out) continue;
    order.events.push_back(split ? 2 * problem.txn[v / 2] + v % 2 : problem.txn[v]);
  }
  return order;
}

Judgement accept_by_replay(const Problem& problem, const LevelInfo& level,
                           const CheckOptions& options, Stages& stages, Budget& budget) {
  const auto timer = stages.time("replay");
  const Schedule schedule = schedule_by_hint(
      problem, level, budget,
      {.threads = options.threads, .stated_orders = options.speed_ups.has(SpeedUp::stated_replay)});
  if (!schedule.accepted || !budget.has_room(sizeof(Vertex) * schedule.order.size())) return {};
  const auto follows_stated = [&] {
    return budget.has_room(sizeof(uint32_t) * schedule.order.size()) &&
           follows(schedule.order, problem.stated, Events(level));
  };
  if (!schedule.keeps_stated && !follows_stated()) return {};
  return Judgement::satisfied(
      to_order(problem, level.events == EventModel::split, schedule.order, schedule.effective));
}

namespace {

uint64_t count_sources(const OpenReads& open) {
  uint64_t count = 0;
  for (const OpenRead& read : open.all())
    if (read.sources.size() > 1) count += read.sources.size();
  return count;
}

// The average number of sources of a read.
double sources_a_read(const Problem& problem) {
  if (problem.open == nullptr || problem.open->all().empty()) return 0;
  return static_cast<double>(count_sources(*problem.open)) /
         static_cast<double>(problem.open->all().size());
}

// Accepts with the sources of reads that known edges leave, out of those within `reach`; if `most`
// is given, only if a read then has at most this many on average. Satisfied or unknown.
Judgement accept_with_fewer_sources(const Problem& problem, const LevelInfo& level, uint32_t reach,
                                    const CheckOptions& options, Stages& stages, Budget& budget,
                                    const FindContradicted* contradicted,
                                    std::optional<double> most = {}) {
  const SaturationRules rules = saturation_rules(options.speed_ups);
  const auto narrow = [&] {
    const auto timer = stages.time("narrow");
    return narrow_sources(problem, level, reach, rules, budget);
  };
  const std::optional<Problem> narrowed = narrow();
  if (!narrowed || (most && sources_a_read(*narrowed) > *most)) return {};
  stages.count("sources before narrowing", count_sources(*problem.open));
  stages.count("sources after narrowing", count_sources(*narrowed->open));
  CheckOptions uncounted = options;
  uncounted.count_constraints = false;
  Judgement found =
      Engine(*narrowed, level, uncounted, stages, budget, contradicted, nullptr).decide();
  if (found.outcome() != Outcome::satisfied) return {};
  return found;
}

// If reads have very many sources, first tries the sources near in the order of the hint.
Judgement accept_with_fewer_sources(const Problem& problem, const LevelInfo& level,
                                    const CheckOptions& options, Stages& stages, Budget& budget,
                                    const FindContradicted* contradicted) {
  constexpr double kMany = 16;
  if (sources_a_read(problem) > kMany) {
    Judgement near = accept_with_fewer_sources(problem, level, usual_reach(problem), options,
                                               stages, budget, contradicted);
    if (near.outcome() == Outcome::satisfied || budget.exhausted_now()) return near;
  }
  return accept_with_fewer_sources(problem, level, kNone, options, stages, budget, contradicted);
}

}  // namespace

bool is_nearly_stated(const Problem& problem) {
  constexpr double kNearly = 0.75;  // the share of writes that come right before another write of
                                    // their key
  return static_cast<double>(problem.stated.size()) >=
         kNearly * static_cast<double>(problem.writes.node.size());
}

Judgement decide_strong(const Problem& problem, const LevelInfo& level, const CheckOptions& options,
                        Stages& stages, Budget& budget, const FindContradicted* contradicted,
                        const FindWeakFaults* find_weak_faults) {
  if (!budget.has_room(EventGraph::bytes(problem, level)))
    return Judgement::unknown(budget.reason());
  const auto engine = [&] {
    return Engine(problem, level, options, stages, budget, contradicted, find_weak_faults);
  };
  constexpr double kManyForASearch = 4;
  constexpr size_t kMostLayers = 20'000;  // with more, a search by values would not reach the last
                                          // one
  if (options.speed_ups.has(SpeedUp::value_beam) && find_weak_faults == nullptr &&
      level.real_time == RealTime::none && problem.nodes() <= kMostLayers &&
      sources_a_read(problem) > kManyForASearch) {
    // The sources that sessions and the hint leave may be few after all.
    if (options.speed_ups.has(SpeedUp::narrowing)) {
      Judgement near = accept_with_fewer_sources(problem, level, usual_reach(problem), options,
                                                 stages, budget, contradicted, kManyForASearch);
      if (near.outcome() == Outcome::satisfied) return near;
    }
    Judgement found = engine().accept_by_values();
    if (found.outcome() != Outcome::unknown || budget.exhausted_now()) return found;
  }
  if (problem.open != nullptr && options.speed_ups.has(SpeedUp::narrowing)) {
    Judgement found =
        accept_with_fewer_sources(problem, level, options, stages, budget, contradicted);
    if (found.outcome() == Outcome::satisfied) return found;
    if (budget.exhausted_now()) return Judgement::unknown(budget.reason());
  }
  return engine().decide();
}

}  // namespace assay::internal
