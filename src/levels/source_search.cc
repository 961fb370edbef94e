// Sources as choices: weak levels and Adya's, where several transactions may have left what an operation saw.
//
//   s1: A { w(x,1) }   s2: B { w(x,1) w(y,2) }   s3: C { r(x,1) r(y,null) }     read atomic
//   C saw A's x or B's x. If B's, C saw B and yet reads the initial y: a cycle. So C saw A's.
//
// These levels look at who read from whom, and not only at what an order of events explains, so the source of every read
// is part of the claim. Each choice of sources turns the history into an ordinary one, for which the level is a rule:
// who saw what, in the sense of the level, precedes whom in the commit order (weak.cc). The rule's edges rest on the
// sources that the seeing rests on. So the search of the strong levels (solver/choice_solver.h) serves here too:
//
//   1. it takes a source for every open read, such that reads-from and session order have no cycle; at first those
//      nearest in an order that leaves the open reads out. A read with one possible source is a fact: its edge is there
//      from the beginning, and becomes a choice, with one alternative, when a condition asks for it
//   2. with these sources the level's rule yields the edges that the search's order runs against
//   3. each becomes an edge of the search, on condition of the sources (and outcomes) on the paths that show the seeing;
//      what refutes the level by itself becomes a clause. Then 1 again
//
// until the order has no fault, and is the commit order with these sources; or until the search ends in a contradiction,
// whose cycles and clauses are the proof. Adya's levels, which have no commit order, give a clause for each forbidden
// cycle.
//
// Cost: the matching and the rule of the level in each round, and the search: exponential at worst (causal consistency
// with values written more than once is NP-complete: Bouajjani, Enea, Guerraoui, Hamza, POPL 2017).

#include "levels/source_search.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <utility>
#include <vector>

#include "base/sort_by.h"
#include "history/accesses.h"
#include "infer/reads_from.h"
#include "levels/list_choices.h"
#include "levels/proof_hints.h"
#include "levels/weak.h"
#include "solver/choice_solver.h"

namespace assay::internal {
namespace {

class SourceSearch {
 public:
  SourceSearch(const Problem& problem, const LevelInfo& level, const OpenReads& open,
               const Order& first, ChosenSources& chosen, Stages& stages, Budget& budget)
      : h_(*problem.history),
        level_(level),
        problem_(problem),
        open_(open),
        chosen_(chosen),
        stages_(stages),
        budget_(budget),
        place_(h_.txn_count(), kNone),
        effect_(h_.txn_count(), kNone),
        lists_(open.lists()) {
    for (uint32_t i = 0; i < first.events.size(); ++i) place_[first.events[i]] = i;
  }

  LevelVerdict decide(bool local_search) {
    build_graph();
    std::vector<Vertex> order_before = topological_order(graph_, place_);
    if (order_before.size() <
        graph_.vertices()) {  // the facts contradict each other: the search says how
      facts_ = false;
      build_graph();
      order_before = topological_order(graph_, place_);
    }
    IncrementalOrder order(graph_, std::move(order_before));
    ChoiceSolver solver(graph_, order, {.on = local_search});
    if (!add_all_sources(solver)) {
      verdict_.reason = budget_.reason();
      return std::move(verdict_);
    }
    uint64_t rounds = 0;
    for (;; ++rounds) {
      const ChoiceSolver::Result result = solver.solve(budget_);
      if (result == ChoiceSolver::Result::contradiction) {
        verdict_.outcome = Outcome::violated;
        verdict_.proof = prove(solver.refutation());
        break;
      }
      if (result == ChoiceSolver::Result::out_of_budget || budget_.exhausted_now()) {
        verdict_.reason = budget_.reason();
        break;
      }
      if (!add_what_fails(order.order(), solver)) break;
    }
    stages_.count("rounds of sources", rounds + 1);
    stages_.count("conflicts", solver.conflicts());
    return std::move(verdict_);
  }

 private:
  // An edge of the search that rests on sources and outcomes.
  struct Conditional {
    Edge edge;
    std::vector<Side> sides;
  };

  // What the lists ask of the search.
  class Lists : public ListSearch {
   public:
    Lists(SourceSearch& search, ChoiceSolver& solver) : search_(search), solver_(solver) {}

    Side add_block(const Literal& block, bool prefer) override {
      search_.literals_.push_back(block);
      return 2 * solver_.add_choice({}, {}, prefer);
    }
    Side effect_of(TxnId t) override { return search_.effect_of(t, solver_); }
    Side order_of(TxnId before, TxnId after) override {
      return search_.order_of(before, after, solver_);
    }
    void add_clause(std::span<const Side> sides, ProofStep step) override {
      step.clause = search_.literals_of(sides);
      search_.add_clause(sides, {std::move(step)}, solver_);
    }
    bool is_possible(TxnId t) const override { return search_.possible(t); }
    bool taken(Side side) const override {
      return solver_.first_taken(side / 2) == (side % 2 == 0);
    }

   private:
    SourceSearch& search_;
    ChoiceSolver& solver_;
  };

  bool one_state() const { return open_.one_state(); }
  bool possible(TxnId t) const {
    return h_.status(t) == TxnStatus::unknown && problem_.node_of(t) == kNone;
  }

  // Whether the source of a read comes before its reader. At Adya's levels, of a key that a range did not return, that may be
  // another: who changed the match last.
  bool precedes_reader(const OpenRead& read) const {
    return level_.events != EventModel::adya || !is_range(h_.op(read.op)) ||
           returned(h_, read.op, read.key);
  }

  // Only one transaction can have left what was seen, and both certainly take effect.
  bool is_fact(const OpenRead& read) const {
    return facts_ && read.sources.size() == 1 && !possible(read.reader) &&
           (read.sources[0] == kNone || !possible(read.sources[0]));
  }

  // Session order, the reads whose source is certain, and stated version orders. A vertex a transaction; one that may
  // take effect has edges in only.
  void build_graph() {
    std::vector<Arc> arcs;
    const auto add = [&](TxnId from, TxnId to) { arcs.push_back({from, to}); };
    std::vector<TxnId> previous(h_.session_count(), kNone);
    for (TxnId t = 0; t < h_.txn_count() && level_.session_order; ++t) {
      if (h_.status(t) == TxnStatus::aborted) continue;
      TxnId& before = previous[h_.session(t)];
      if (before != kNone) add(before, t);
      // Who may take effect stands in no first order: right behind its session.
      if (place_[t] == kNone) place_[t] = before == kNone ? 0 : place_[before];
      if (h_.status(t) == TxnStatus::committed) before = t;
    }
    std::vector<ExternalRead> reads;
    for (Node n = 0; n < problem_.nodes(); ++n) {
      external_reads(problem_, n, reads);
      for (const ExternalRead& read : reads)
        if (read.write != kNone)
          add(problem_.txn[problem_.writes.node[read.write]], problem_.txn[n]);
    }
    for (const OpenRead& read : open_.all())
      if (is_fact(read) && read.sources[0] != kNone && precedes_reader(read))
        add(read.sources[0], read.reader);
    for (const StatedOrder& stated : problem_.stated)
      add(problem_.txn[stated.before], problem_.txn[stated.after]);
    stable_sort_by(arcs, [](Arc a) { return pack(a.from, a.to); });
    arcs.erase(std::unique(arcs.begin(), arcs.end()), arcs.end());
    for (uint32_t& place : place_)
      if (place == kNone) place = 0;
    graph_ = Digraph(h_.txn_count(), arcs);
  }

  Literal seen(const OpenRead& read, TxnId source) const {
    return Literal::seen(read.reader, read.key, source, one_state() ? kNone : read.op);
  }

  // False if the budget ran out.
  bool add_all_sources(ChoiceSolver& solver) {
    // A choice, its edge and clauses, and what the search keeps of each of its sides.
    constexpr uint64_t kBytesASource = 250, kAskEvery = 4 << 20;
    uint64_t more = 0;
    first_choice_.assign(open_.all().size(), kNone);
    for (uint32_t read = 0; read < open_.all().size(); ++read) {
      if (is_fact(open_.all()[read])) continue;
      more += kBytesASource * open_.all()[read].sources.size();
      if (more >= kAskEvery && !budget_.has_room(std::exchange(more, 0))) return false;
      if (budget_.exhausted()) return false;
      add_sources(read, solver);
    }
    Lists search(*this, solver);
    for (uint32_t list = 0; list < open_.lists().all().size(); ++list) {
      more += kBytesASource * open_.lists().all()[list].choices();
      if (more >= kAskEvery && !budget_.has_room(std::exchange(more, 0))) return false;
      if (budget_.exhausted()) return false;
      lists_.make(
          list, [this](TxnId t) { return place_[t]; }, search);
    }
    return true;
  }

  // A choice a source, the nearest before the reader first, then the nearest after it.
  void add_sources(uint32_t index, ChoiceSolver& solver) {
    const OpenRead& read = open_.all()[index];
    const std::vector<TxnId> sources =
        nearest_first(read, place_[read.reader], [this](TxnId t) { return place_[t]; });
    ProofStep one_of = sources_step(read);
    std::vector<uint32_t> group;
    std::vector<Side> clause;
    first_choice_[index] = static_cast<uint32_t>(literals_.size());
    for (const TxnId source : sources) {
      const bool edge =
          source != kNone && !possible(source) && !possible(read.reader) && precedes_reader(read);
      const Arc arc{edge ? source : 0, read.reader};
      group.push_back(solver.add_choice({&arc, edge ? size_t{1} : size_t{0}}, {}, true));
      literals_.push_back(seen(read, source));
      clause.push_back(2 * group.back());
    }
    one_of.clause = literals_of(clause);
    if (!group.empty()) solver.group(group, read.reader);
    if (possible(read.reader)) {
      clause.push_back(effect_of(read.reader, solver) ^ 1);
      one_of.clause.push_back(literal(clause.back()));
    }
    add_clause(clause, {std::move(one_of)}, solver);
    for (size_t i = 0; i < sources.size(); ++i) add_effect(read, sources[i], 2 * group[i], solver);
  }

  // Without its clause.
  static ProofStep sources_step(const OpenRead& read) {
    ProofStep one_of;
    one_of.kind = ProofStep::Kind::sources;
    one_of.source = read.op;
    one_of.key = read.key;
    return one_of;
  }

  // The side that says what the fact says. Its edge is in the graph already.
  Side side_of_fact(uint32_t index, ChoiceSolver& solver) {
    if (first_choice_[index] == kNone) {
      const OpenRead& read = open_.all()[index];
      first_choice_[index] = solver.add_choice({}, {}, true);
      literals_.push_back(seen(read, read.sources[0]));
      ProofStep only = sources_step(read);
      only.clause = {literals_.back()};
      const Side side = 2 * first_choice_[index];
      add_clause({&side, 1}, {std::move(only)}, solver);
    }
    return 2 * first_choice_[index];
  }

  // Whoever was seen took effect, and came before.
  void add_effect(const OpenRead& read, TxnId source, Side seen, ChoiceSolver& solver) {
    if (source == kNone || (!possible(source) && !possible(read.reader))) return;
    if (precedes_reader(read)) add_conditional(seen_edge(read, source), {seen}, solver);
    if (!possible(source)) return;
    std::vector<Side> clause = {seen ^ 1, effect_of(source, solver)};
    if (possible(read.reader)) clause.push_back(effect_of(read.reader, solver) ^ 1);
    ProofStep effect;
    effect.kind = ProofStep::Kind::effect;
    effect.clause = literals_of(clause);
    add_clause(clause, {std::move(effect)}, solver);
  }

  Side effect_of(TxnId t, ChoiceSolver& solver) {
    if (effect_[t] == kNone) {
      effect_[t] = solver.add_choice({}, {}, false);
      literals_.push_back(Literal::effect(t));
    }
    return 2 * effect_[t];
  }

  // The side that says so.
  Side order_of(TxnId before, TxnId after, ChoiceSolver& solver) {
    const auto [it, fresh] = orders_.try_emplace(std::minmax(before, after), 0);
    if (fresh) {
      it->second = static_cast<uint32_t>(literals_.size());
      const Arc first{before, after}, second{after, before};
      const bool plain = !possible(before) && !possible(after);
      const size_t edges = plain ? 1 : 0;
      solver.add_choice({&first, edges}, {&second, edges}, true);
      literals_.push_back(Literal::order(before, after));
      for (const Side side : {2 * it->second, 2 * it->second + 1})
        if (!plain) add_conditional(order_edge(side), {side}, solver);
    }
    return 2 * it->second + (literals_[it->second].from == before ? 0 : 1);
  }

  // Between two who appended to a list.
  Edge order_edge(Side side) const {
    const Literal order = literal(side);
    Edge edge;
    edge.kind = EdgeKind::write_dependency;
    edge.from = order.from;
    edge.to = order.to;
    for (const OpenLists::BlockPlace a : open_.lists().blocks_of(order.from))
      for (const OpenLists::BlockPlace b : open_.lists().blocks_of(order.to))
        if (a.list == b.list) edge.key = open_.lists().all()[a.list].key;
    return edge;
  }

  static Edge seen_edge(const OpenRead& read, TxnId source) {
    Edge edge;
    edge.kind = EdgeKind::read_dependency;
    edge.from = source;
    edge.to = read.reader;
    edge.key = read.key;
    edge.op = read.op;
    return edge;
  }

  Literal literal(Side side) const {
    return side % 2 == 0 ? literals_[side / 2] : !literals_[side / 2];
  }
  std::vector<Literal> literals_of(std::span<const Side> sides) const {
    std::vector<Literal> literals;
    for (const Side side : sides) literals.push_back(literal(side));
    return literals;
  }

  void add_clause(std::span<const Side> sides, std::vector<ProofStep> why, ChoiceSolver& solver) {
    clauses_.push_back(std::move(why));
    solver.add_clause(sides);
  }

  // What the edge rests on besides what `sides` says: sources, and outcomes of those it names.
  void add_conditional(const Edge& edge, std::vector<Side> sides, ChoiceSolver& solver) {
    note_conditions(edge, sides, solver);
    conditional_.push_back({edge, sides});
    solver.add_conditional({edge.from, edge.to}, sides);
  }

  void note_conditions(const Edge& edge, std::vector<Side>& sides, ChoiceSolver& solver) {
    const auto note = [&](Side side) {
      if (std::find(sides.begin(), sides.end(), side) == sides.end()) sides.push_back(side);
    };
    const auto note_effect = [&](TxnId t) {
      if (t != kNone && possible(t)) note(effect_of(t, solver));
    };
    const auto note_seen = [&](TxnId reader, TxnId source) {
      const Side side = side_of(reader, edge.key, edge.op, source, solver);
      if (side != kKnownSide) note(side);
    };
    note_effect(edge.from);
    note_effect(edge.to);
    switch (edge.kind) {
      case EdgeKind::read_dependency:
        return note_seen(edge.to, edge.via == kNone ? edge.from : edge.via);
      case EdgeKind::anti_dependency:
        return note_seen(edge.from, edge.via);
      case EdgeKind::forced:
        note_effect(edge.via);
        note_seen(edge.via, edge.to);
        for (const Edge& part : edge.path) note_conditions(part, sides, solver);
        return;
      case EdgeKind::session:
      case EdgeKind::real_time:
      case EdgeKind::write_dependency:
        return;
    }
  }

  // That the operation saw this source; kKnownSide where that is no choice.
  Side side_of(TxnId reader, KeyId key, OpId op, TxnId source, ChoiceSolver& solver) {
    for (const uint32_t index : open_.of(reader)) {
      const OpenRead& read = open_.all()[index];
      if (read.key != key || (!one_state() && read.op != op)) continue;
      if (is_fact(read) && read.sources[0] == source) return side_of_fact(index, solver);
      if (is_fact(read)) continue;
      for (uint32_t i = 0; i < read.sources.size(); ++i)
        if (literals_[first_choice_[index] + i].from == source)
          return 2 * (first_choice_[index] + i);
    }
    for (const OpenLists::Place read : open_.lists().reads_of(reader)) {
      const OpenList& list = open_.lists().all()[read.list];
      if (list.key != key || (op != kNone && list.reads[read.read].op != op)) continue;
      const Side side = lists_.side_of(read, source);
      if (side != kKnownSide) return side;
    }
    return kKnownSide;
  }

  // Whoever goes through the order finds this source: the last before the reader that left what it saw to be there, or to
  // be absent, is the only one that did.
  bool is_found_in_order(const OpenRead& read, OpId op) const {
    const Accepts accepts = observation_of(h_, op).accepts;
    return precedes_reader(read) && read.alone && is_fact(read) &&
           (accepts == Accepts::equals || accepts == Accepts::absent ||
            (accepts == Accepts::rows && h_.selected(op).predicate == kNone));
  }

  TxnId taken_source(uint32_t read, ChoiceSolver& solver) const {
    uint32_t choice = first_choice_[read];
    while (!solver.first_taken(choice)) ++choice;
    return literals_[choice].from;
  }

  // The sources that the search has taken, for each operation of whoever takes effect then: those who certainly do, and
  // whom they saw, and so on.
  std::vector<Seen> taken(ChoiceSolver& solver) {
    std::vector<TxnId> work;
    effective_.assign(h_.txn_count(), 0);
    to_name_.clear();
    const auto add = [&](TxnId t) {
      if (t == kNone || effective_[t]) return;
      effective_[t] = 1;
      work.push_back(t);
    };
    for (const OpenRead& read : open_.all())
      if (!possible(read.reader)) add(read.reader);
    for (const OpenList& list : open_.lists().all())
      for (const OpenList::Read& read : list.reads)
        if (!possible(read.reader)) add(read.reader);
    placed_.assign(open_.lists().all().size(), {});
    std::vector<Seen> all;
    while (!work.empty()) {
      const TxnId reader = work.back();
      work.pop_back();
      for (const uint32_t index : open_.of(reader)) {
        const OpenRead& read = open_.all()[index];
        const TxnId source = is_fact(read) ? read.sources[0] : taken_source(index, solver);
        if (source != kNone && possible(source)) add(source);
        for (const OpId op : read.ops) {
          all.push_back({op, read.key, source});
          if (!is_found_in_order(read, op)) to_name_.push_back(all.back());
        }
      }
      for (const OpenLists::Place place : open_.lists().reads_of(reader)) {
        const OpenList& list = open_.lists().all()[place.list];
        const OpenList::Read& read = list.reads[place.read];
        if (placed_[place.list].empty())
          placed_[place.list] = lists_.placed(place.list, Lists(*this, solver));
        for (const ListChoices::Placed& p : placed_[place.list]) {
          if (p.at >= read.length) continue;
          all.push_back({read.op, list.key, p.txn, p.at});
          to_name_.push_back(all.back());
          if (possible(p.txn)) add(p.txn);
        }
      }
    }
    std::sort(all.begin(), all.end());
    std::sort(to_name_.begin(), to_name_.end());
    return all;
  }

  // False if nothing does, or nothing can be said; the verdict is given then.
  bool add_what_fails(std::span<const Vertex> order, ChoiceSolver& solver) {
    std::vector<Seen> sources = taken(solver);
    if (add_what_lists_lack(order, solver)) return true;
    if (!choose(std::move(sources))) return give_up(budget_.reason());
    const Problem& problem = *chosen_.problem;
    std::vector<Node> nodes;  // in the order of the search
    nodes.reserve(problem.nodes());
    for (const Vertex t : order)
      if (problem.node_of(t) != kNone) nodes.push_back(problem.node_of(t));
    const bool failed =
        level_.events == EventModel::adya ? add_forbidden_cycle(solver) : add_faults(nodes, solver);
    if (verdict_.outcome == Outcome::satisfied) verdict_.order.sources = to_name_;
    return failed;
  }

  // Blocks that overlap, or follow each other otherwise than in the order, and readers before what they read.
  bool add_what_lists_lack(std::span<const Vertex> order, ChoiceSolver& solver) {
    if (placed_.empty()) return false;
    std::vector<uint32_t> place(h_.txn_count(), 0);
    for (uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
    const auto comes_before = [&](TxnId a, TxnId b) { return place[a] < place[b]; };
    Lists search(*this, solver);
    bool any = false;
    for (uint32_t l = 0; l < placed_.size(); ++l) {
      if (placed_[l].empty()) continue;
      if (lists_.add_overlaps(l, placed_[l], search)) {
        any = true;
        continue;
      }
      any = lists_.add_orders(l, placed_[l], comes_before, search) || any;
      const OpenList& list = open_.lists().all()[l];
      for (const OpenList::Read& read : list.reads) {
        const ListChoices::Placed* last = ListChoices::last_seen(placed_[l], read.length);
        if (last == nullptr || !effective_[read.reader] || comes_before(last->txn, read.reader))
          continue;
        Edge edge;
        edge.kind = EdgeKind::read_dependency;
        edge.from = last->txn;
        edge.to = read.reader;
        edge.key = list.key;
        edge.op = read.op;
        add_conditional(edge, {last->side}, solver);
        any = true;
      }
      any = (one_state() && refute_other_list(l, solver)) || any;
    }
    return any;
  }

  // Somebody who takes effect, as the search has it, read a list twice and got different ones.
  bool refute_other_list(uint32_t l, ChoiceSolver& solver) {
    const OpenList& list = open_.lists().all()[l];
    for (const OpenList::Read& longer : list.reads) {
      if (!possible(longer.reader) || !effective_[longer.reader]) continue;
      for (const OpenLists::Place place : open_.lists().reads_of(longer.reader)) {
        const OpenList::Read& shorter = list.reads[place.read];
        if (place.list != l || shorter.length >= longer.length) continue;
        const ListChoices::Placed* first = ListChoices::last_seen(placed_[l], shorter.length);
        const ListChoices::Placed* second = ListChoices::last_seen(placed_[l], longer.length);
        if (second == nullptr || (first == nullptr && shorter.length > 0)) continue;
        // It saw `second`, and read what was there before that.
        Edge seen, behind;
        seen.kind = EdgeKind::read_dependency;
        seen.from = second->txn;
        seen.to = longer.reader;
        seen.op = longer.op;
        seen.key = behind.key = list.key;
        behind.op = shorter.op;
        std::vector<ProofStep> steps;
        ProofStep cycle;
        if (first == nullptr) {
          behind.kind = EdgeKind::anti_dependency;
          behind.from = longer.reader;
          behind.to = second->txn;
          cycle.cycle = {seen, behind};
        } else {
          behind.kind = EdgeKind::forced;
          behind.from = second->txn;
          behind.to = first->txn;
          behind.via = longer.reader;
          behind.path = {seen};
          Edge before;
          before.kind = EdgeKind::write_dependency;
          before.from = first->txn;
          before.to = second->txn;
          before.key = list.key;
          cycle.cycle = {before, behind};
          steps.push_back(ListChoices::ordered(list, *first, *second));
        }
        steps.push_back(std::move(cycle));
        if (steps.size() > 1) {
          ProofStep& derived = steps.emplace_back();
          derived.kind = ProofStep::Kind::derived;
          derived.hints = {0, 1};
        }
        add_refuted(std::move(steps), solver);
        return true;
      }
    }
    return false;
  }

  // Matches with these sources. False if the budget ran out.
  bool choose(std::vector<Seen> sources) {
    if (chosen_.problem && chosen_.sources == sources) return true;
    chosen_.adya.reset();
    chosen_.problem = make_problem(h_, sources, budget_);
    chosen_.sources = std::move(sources);
    if (budget_.exhausted_now()) {
      chosen_.problem.reset();
      return false;
    }
    assert(chosen_.problem->found.bad_read.anomaly == Anomaly::none && all_seen());
    return true;
  }

  // With a source for every open read, only operations that observe nothing of anybody else's are left unresolved:
  // a delete of what the transaction itself wrote, a range that covers no key that others wrote.
  bool all_seen() const {
    return std::none_of(chosen_.problem->unresolved.begin(), chosen_.problem->unresolved.end(),
                        [this](OpId op) {
                          const std::vector<uint32_t>& reads = open_.of(h_.txn_of(op));
                          return std::any_of(reads.begin(), reads.end(), [this, op](uint32_t read) {
                            const std::vector<OpId>& ops = open_.all()[read].ops;
                            return std::find(ops.begin(), ops.end(), op) != ops.end();
                          });
                        });
  }

  bool add_faults(const std::vector<Node>& nodes, ChoiceSolver& solver) {
    std::vector<WeakFault> faults;
    WeakLevels levels(*chosen_.problem);
    if (!levels.find_faults(level_.id, nodes, faults, budget_)) {
      const bool in_budget = !budget_.exhausted_now();
      return give_up(in_budget ? Unknown{UnknownCause::memory, "the history has too many sessions"}
                               : budget_.reason());
    }
    for (const WeakFault& fault : faults) {
      if (!fault.is_cycle()) {
        add_conditional(fault.edges.front(), {}, solver);
        continue;
      }
      ProofStep cycle;
      cycle.cycle = fault.edges;
      add_refuted({std::move(cycle)}, solver);
    }
    if (!faults.empty()) return true;
    verdict_.outcome = Outcome::satisfied;
    for (const Node n : nodes) verdict_.order.events.push_back(chosen_.problem->txn[n]);
    return false;
  }

  bool add_forbidden_cycle(ChoiceSolver& solver) {
    if (!chosen_.adya) chosen_.adya.emplace(*chosen_.problem, UpdateOrders::known);
    LevelVerdict found = chosen_.adya->decide(level_.id, budget_);
    if (found.outcome == Outcome::violated) {
      add_refuted(std::move(found.proof.steps), solver);
      return true;
    }
    verdict_ = std::move(found);
    return false;
  }

  // A refutation that rests on sources: facts, one cycle, and the contradiction of these. What it rests on cannot all be.
  void add_refuted(std::vector<ProofStep> steps, ChoiceSolver& solver) {
    std::vector<Side> sides;
    const auto rests_on = [&](Side side) {
      if (std::find(sides.begin(), sides.end(), side ^ 1) == sides.end()) sides.push_back(side ^ 1);
    };
    for (ProofStep& step : steps) {
      if (step.kind == ProofStep::Kind::fact && step.source_is_op)
        for (const Side side : make_conditional(step)) rests_on(side);
      if (step.kind != ProofStep::Kind::cycle) continue;
      std::vector<Side> own;
      for (const Edge& edge : step.cycle) note_conditions(edge, own, solver);
      step.given = literals_of(own);
      for (const Side side : own) rests_on(side);
    }
    if (steps.back().kind == ProofStep::Kind::derived) steps.back().clause = literals_of(sides);
    add_clause(sides, std::move(steps), solver);
  }

  // An order that a list states whose blocks are open is no fact, but follows from where they are.
  std::vector<Side> make_conditional(ProofStep& fact) const {
    for (const OpenLists::Place place : open_.lists().reads_of(h_.txn_of(fact.source))) {
      const OpenList& list = open_.lists().all()[place.list];
      if (list.reads[place.read].op != fact.source) continue;
      const ListChoices::Placed *before = nullptr, *after = nullptr;
      for (const ListChoices::Placed& p : placed_[place.list]) {
        if (p.txn == fact.clause[0].from) before = &p;
        if (p.txn == fact.clause[0].to) after = &p;
      }
      if (before == nullptr || after == nullptr) return {};
      fact = ListChoices::ordered(list, *before, *after);
      return {before->side, after->side};
    }
    return {};
  }

  bool give_up(Unknown reason) {
    verdict_.reason = std::move(reason);
    return false;
  }

  // The steps of the search, as steps of a proof.
  Proof prove(const std::vector<RefutationStep>& steps) const {
    Proof proof;
    std::vector<uint32_t> step_of;
    for (const RefutationStep& step : steps) {
      if (step.given != kNoArc) {
        append(clauses_[step.given], proof);
      } else if (!step.cycle.empty()) {
        append(explain(step.cycle), proof);
      } else {
        ProofStep derived;
        derived.kind = ProofStep::Kind::derived;
        derived.clause = literals_of(step.clause);
        for (const uint32_t hint : step.hints) derived.hints.push_back(step_of[hint]);
        proof.steps.push_back(std::move(derived));
      }
      step_of.push_back(static_cast<uint32_t>(proof.steps.size() - 1));
    }
    tidy_hints(proof);
    return proof;
  }

  // `steps` refer to each other.
  static void append(std::vector<ProofStep> steps, Proof& proof) {
    const uint32_t before = static_cast<uint32_t>(proof.steps.size());
    for (ProofStep& step : steps) {
      for (uint32_t& hint : step.hints) hint += before;
      proof.steps.push_back(std::move(step));
    }
  }

  // A cycle of the search: the facts that it uses, the cycle, and what follows from them.
  std::vector<ProofStep> explain(std::span<const SidedArc> walk) const {
    std::vector<ProofStep> steps;
    ProofStep cycle, rest;
    std::vector<Side> sides;
    for (const SidedArc& arc : walk) {
      if (arc.conditional != kNoArc) {
        const Conditional& conditional = conditional_[arc.conditional];
        cycle.cycle.push_back(conditional.edge);
        sides.insert(sides.end(), conditional.sides.begin(), conditional.sides.end());
      } else if (arc.side != kKnownSide) {
        cycle.cycle.push_back(edge_of(arc.side));
        sides.push_back(arc.side);
      } else {
        cycle.cycle.push_back(known_edge(arc.arc, steps, cycle.given));
      }
    }
    std::sort(sides.begin(), sides.end());
    sides.erase(std::unique(sides.begin(), sides.end()), sides.end());
    for (const Side side :
         sides)  // the edges say which orders they assume; facts are given already
      if (literal(side).kind != Literal::Kind::order) cycle.given.push_back(literal(side));
    const bool facts = !steps.empty();
    steps.push_back(std::move(cycle));
    if (!facts) return steps;
    rest.kind = ProofStep::Kind::derived;
    for (const Side side : sides) rest.clause.push_back(literal(side ^ 1));
    for (uint32_t i = 0; i < steps.size(); ++i) rest.hints.push_back(i);
    steps.push_back(std::move(rest));
    return steps;
  }

  // Of a choice that has one.
  Edge edge_of(Side side) const {
    const Literal& seen = literals_[side / 2];
    if (seen.kind == Literal::Kind::order) return order_edge(side);
    for (const uint32_t index : open_.of(seen.to)) {
      const OpenRead& read = open_.all()[index];
      if (read.key == seen.key && (one_state() || read.op == seen.op))
        return seen_edge(read, seen.from);
    }
    assert(false);
    return {};
  }

  // A stated order is a fact besides, and so is a read with one possible source, which the cycle is given.
  Edge known_edge(Arc arc, std::vector<ProofStep>& facts, std::vector<Literal>& given) const {
    const Arc nodes{problem_.node_of(arc.from), problem_.node_of(arc.to)};
    if (nodes.to == kNone || nodes.from == kNone) return session_edge(arc);
    const auto edge = base_edge(problem_, nodes);
    if (edge && (level_.session_order || edge->kind != EdgeKind::session)) return *edge;
    const auto stated = std::find_if(
        problem_.stated.begin(), problem_.stated.end(),
        [&](const StatedOrder& s) { return s.before == nodes.from && s.after == nodes.to; });
    if (stated != problem_.stated.end()) {
      facts.push_back(stated_fact(problem_, *stated));
      return stated_edge(problem_, *stated);
    }
    const std::vector<uint32_t>& reads = open_.of(arc.to);
    const auto fact = std::find_if(reads.begin(), reads.end(), [&](uint32_t index) {
      const OpenRead& read = open_.all()[index];
      return is_fact(read) && read.sources[0] == arc.from && precedes_reader(read);
    });
    assert(fact != reads.end());
    const OpenRead& read = open_.all()[*fact];
    ProofStep& only = facts.emplace_back(sources_step(read));
    only.clause = {seen(read, arc.from)};
    given.push_back(only.clause[0]);
    return seen_edge(read, arc.from);
  }

  static Edge session_edge(Arc arc) {
    Edge edge;
    edge.from = arc.from;
    edge.to = arc.to;
    return edge;
  }

  const History& h_;
  const LevelInfo& level_;
  const Problem& problem_;
  const OpenReads& open_;
  ChosenSources& chosen_;
  Stages& stages_;
  Budget& budget_;
  Digraph graph_;                       // a vertex a transaction
  std::vector<uint32_t> place_;         // per transaction, in the first order
  std::vector<uint32_t> effect_;        // per transaction: the choice, kNone if there is none
  std::vector<Literal> literals_;       // per choice: its first side
  std::vector<Seen> to_name_;           // of the sources taken, what the certificate has to say
  bool facts_ = true;                   // reads with one possible source need no choice
  std::vector<uint32_t> first_choice_;  // per open read, of its sources; kNone: a fact so far
  std::vector<std::vector<ProofStep>> clauses_;  // why each holds; the last step is the clause
  std::vector<Conditional> conditional_;
  std::map<std::pair<TxnId, TxnId>, uint32_t> orders_;  // of two writers: the choice
  ListChoices lists_;
  std::vector<uint8_t>
      effective_;  // per transaction with open reads: takes effect as the search has it
  std::vector<std::vector<ListChoices::Placed>>
      placed_;  // per list, where the search has placed blocks
  LevelVerdict verdict_;
};

}  // namespace

LevelVerdict decide_with_sources(const Problem& problem, const LevelInfo& level,
                                 const OpenReads& open, const Order& first, bool local_search,
                                 ChosenSources& chosen, Stages& stages, Budget& budget) {
  const auto timer = stages.time("sources");
  return SourceSearch(problem, level, open, first, chosen, stages, budget).decide(local_search);
}

}  // namespace assay::internal
