// Sources as choices: weak levels and Adya's, where several transactions may have left what an operation saw.
//
//   s1: A { w(x,1) }   s2: B { w(x,1) w(y,2) }   s3: C { r(x,1) r(y,null) }     read atomic
//   C saw A's x or B's x. If B's, C saw B and yet reads the initial y: a cycle. So C saw A's.
//
// These levels look at who read from whom, and not only at what an order of events explains, so the source of every read
// is part of the claim. Each choice of sources turns the history into an ordinary one, for which the level says what a transaction
// has seen, and so which edges hold (weak.cc). These edges rest on the sources that the seeing rests on. As a theory of the search
// (search.h):
//
//   1. every open read becomes a choice of its sources; at first those nearest in an order that leaves the open reads out. A read
//      with one possible source is a fact: its edge is there from the beginning, and it becomes a choice, with one alternative, when
//      a condition asks for it
//   2. with the sources that the search has taken, the level yields the edges that the search's order runs against
//   3. each becomes an edge of the search, on condition of the sources (and outcomes) on the paths that show the seeing;
//      what refutes the level by itself becomes a clause
//
// If the order has no fault, it is the commit order with these sources. Adya's levels, which have no commit order, give a clause for
// each forbidden cycle.
//
// Cost: the matching and the edges of the level in each round, and the search: exponential at worst (causal consistency
// with values written more than once is NP-complete: Bouajjani, Enea, Guerraoui, Hamza, POPL 2017).

#include "levels/source_search.h"

#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

#include "base/sort_by.h"
#include "history/accesses.h"
#include "infer/reads_from.h"
#include "levels/list_choices.h"
#include "levels/proof_hints.h"
#include "levels/search.h"
#include "levels/weak.h"

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
        lists_(open.lists()) {
    for (uint32_t i = 0; i < first.events.size(); ++i) place_[first.events[i]] = i;
  }

  Judgement decide(bool local_search) {
    build_graph();
    std::vector<Vertex> order_before = topological_order(graph_, place_);
    if (order_before.size() <
        graph_.vertices()) {  // the facts contradict each other: the search says how
      facts_ = false;
      build_graph();
      order_before = topological_order(graph_, place_);
    }
    IncrementalOrder order(graph_, std::move(order_before));
    Search search(problem_, level_, nullptr, &open_, nullptr, graph_, order, {.on = local_search});
    search_ = &search;
    bool begun = false;
    const auto check = [&](std::span<const Vertex> now) {
      return std::exchange(begun, true) ? add_what_fails(now) : add_all_sources();
    };
    switch (search.run(check, UINT64_MAX, stages_, budget_)) {
      case Search::Result::found:
        break;
      case Search::Result::contradiction:
        judgement_ = Judgement::violated(prove(search.refutation()));
        break;
      case Search::Result::out_of_budget:
      case Search::Result::too_hard:
        give_up(budget_.reason());
        break;
    }
    return std::move(judgement_);
  }

 private:
  bool one_state() const { return open_.one_state(); }
  bool possible(TxnId t) const {
    return h_.status(t) == TxnStatus::unknown && problem_.node_of(t) == kNone;
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
      if (is_fact(read) && read.sources[0] != kNone && precedes_reader(h_, level_, read))
        add(read.sources[0], read.reader);
    for (const StatedOrder& stated : problem_.stated)
      add(problem_.txn[stated.before], problem_.txn[stated.after]);
    stable_sort_by(arcs, [](Arc a) { return pack(a.from, a.to); });
    arcs.erase(std::unique(arcs.begin(), arcs.end()), arcs.end());
    for (uint32_t& place : place_)
      if (place == kNone) place = 0;
    graph_ = Digraph(h_.txn_count(), arcs);
  }

  // False, and the reason given, if the budget ran out.
  bool add_all_sources() {
    // A choice, its edge and clauses, and what the search keeps of each of its sides.
    constexpr uint64_t kBytesASource = 250, kAskEvery = 4 << 20;
    uint64_t more = 0;
    const auto room_for = [&](uint64_t sources) {
      more += kBytesASource * sources;
      const bool room =
          (more < kAskEvery || budget_.has_room(std::exchange(more, 0))) && !budget_.exhausted();
      return room || give_up(budget_.reason());
    };
    for (uint32_t read = 0; read < open_.all().size(); ++read) {
      if (is_fact(open_.all()[read])) continue;
      if (!room_for(open_.all()[read].sources.size())) return false;
      search_->add_sources(read, place_);
    }
    for (uint32_t list = 0; list < open_.lists().all().size(); ++list) {
      if (!room_for(open_.lists().all()[list].choices())) return false;
      lists_.make(list, place_, *search_);
    }
    return true;
  }

  // With what the edge rests on besides what `sides` says: sources, and outcomes of those it names.
  void add_edge(const Edge& edge, std::vector<Side> sides) {
    note_conditions(edge, sides);
    search_->add_edge(edge, std::move(sides));
  }

  void note_conditions(const Edge& edge, std::vector<Side>& sides) {
    const auto note = [&](Side side) {
      if (std::find(sides.begin(), sides.end(), side) == sides.end()) sides.push_back(side);
    };
    const auto note_effect = [&](TxnId t) {
      if (t != kNone && possible(t)) note(search_->effect_of(t));
    };
    const auto note_seen = [&](TxnId reader, TxnId source) {
      const Side side = side_of(reader, edge.key, edge.op, source);
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
        for (const Edge& part : edge.path) note_conditions(part, sides);
        return;
      case EdgeKind::session:
      case EdgeKind::real_time:
      case EdgeKind::write_dependency:
        return;
    }
  }

  // That the operation saw this source; kKnownSide where that is no choice.
  Side side_of(TxnId reader, KeyId key, OpId op, TxnId source) {
    for (const uint32_t index : open_.of(reader)) {
      const OpenRead& read = open_.all()[index];
      if (read.key != key || (!one_state() && read.op != op)) continue;
      if (is_fact(read) && read.sources[0] != source) continue;
      if (is_fact(read) && search_->sources_of(index).empty()) search_->add_sources(index, place_);
      for (const Search::Source& made : search_->sources_of(index))
        if (made.txn == source) return made.side;
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
    return precedes_reader(h_, level_, read) && read.alone && is_fact(read) &&
           (accepts == Accepts::equals || accepts == Accepts::absent ||
            (accepts == Accepts::rows && h_.selected(op).predicate == kNone));
  }

  TxnId taken_source(uint32_t read) const {
    const std::span<const Search::Source> made = search_->sources_of(read);
    return std::ranges::find_if(
               made, [this](const Search::Source& one) { return search_->taken(one.side); })
        ->txn;
  }

  // The sources that the search has taken, for each operation of whoever takes effect then: those who certainly do, and
  // whom they saw, and so on.
  std::vector<Seen> taken() {
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
        const TxnId source = is_fact(read) ? read.sources[0] : taken_source(index);
        if (source != kNone && possible(source)) add(source);
        for (const OpId op : read.ops) {
          all.push_back({op, read.key, source});
          if (!is_found_in_order(read, op)) to_name_.push_back(all.back());
        }
      }
      for (const OpenLists::Place place : open_.lists().reads_of(reader)) {
        const OpenList& list = open_.lists().all()[place.list];
        const OpenList::Read& read = list.reads[place.read];
        if (placed_[place.list].empty()) placed_[place.list] = lists_.placed(place.list, *search_);
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

  // False if nothing does, or nothing can be said; the judgement is given then.
  bool add_what_fails(std::span<const Vertex> order) {
    std::vector<Seen> sources = taken();
    if (add_what_lists_lack(order)) return true;
    if (!choose(std::move(sources))) return give_up(budget_.reason());
    const Problem& problem = *chosen_.problem;
    std::vector<Node> nodes;  // in the order of the search
    nodes.reserve(problem.nodes());
    for (const Vertex t : order)
      if (problem.node_of(t) != kNone) nodes.push_back(problem.node_of(t));
    const bool failed =
        level_.events == EventModel::adya ? add_forbidden_cycle() : add_faults(nodes);
    if (judgement_.outcome() == Outcome::satisfied) judgement_.certificate.order.sources = to_name_;
    return failed;
  }

  // Blocks that overlap, or follow each other otherwise than in the order, and readers before what they read.
  bool add_what_lists_lack(std::span<const Vertex> order) {
    if (placed_.empty()) return false;
    std::vector<uint32_t> place(h_.txn_count(), 0);
    for (uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
    const auto comes_before = [&](TxnId a, TxnId b) { return place[a] < place[b]; };
    bool any = false;
    for (uint32_t l = 0; l < placed_.size(); ++l) {
      if (placed_[l].empty()) continue;
      if (lists_.add_overlaps(l, placed_[l], *search_)) {
        any = true;
        continue;
      }
      any = lists_.add_orders(l, placed_[l], place, *search_) || any;
      const OpenList& list = open_.lists().all()[l];
      for (const OpenList::Read& read : list.reads) {
        const ListChoices::Placed* last = ListChoices::last_seen(placed_[l], read.length);
        if (last == nullptr || !effective_[read.reader] || comes_before(last->txn, read.reader))
          continue;
        add_edge(Edge::read_dependency(last->txn, read.reader, list.key, read.op), {last->side});
        any = true;
      }
      any = (one_state() && refute_other_list(l)) || any;
    }
    return any;
  }

  // Somebody who takes effect, as the search has it, read a list twice and got different ones.
  bool refute_other_list(uint32_t l) {
    const OpenList& list = open_.lists().all()[l];
    for (const OpenList::Read& longer : list.reads) {
      if (!possible(longer.reader) || !effective_[longer.reader]) continue;
      for (const OpenLists::Place place : open_.lists().reads_of(longer.reader)) {
        if (place.list != l) continue;
        const OpenList::Read& shorter = list.reads[place.read];
        if (shorter.length >= longer.length) continue;
        const ListChoices::Placed* first = ListChoices::last_seen(placed_[l], shorter.length);
        const ListChoices::Placed* second = ListChoices::last_seen(placed_[l], longer.length);
        if (second == nullptr || (first == nullptr && shorter.length > 0)) continue;
        // It saw `second`, and read what was there before that.
        const TxnId reader = longer.reader;
        const Edge seen = Edge::read_dependency(second->txn, reader, list.key, longer.op);
        std::vector<ProofStep> steps;
        ProofStep cycle;
        if (first == nullptr) {
          cycle.cycle = {seen,
                         Edge::anti_dependency(reader, second->txn, list.key, kNone, shorter.op)};
        } else {
          cycle.cycle = {
              Edge::write_dependency(first->txn, second->txn, list.key),
              Edge::forced_order(second->txn, first->txn, list.key, reader, shorter.op, {seen})};
          steps.push_back(ListChoices::ordered(list, *first, *second));
        }
        steps.push_back(std::move(cycle));
        if (steps.size() > 1) {
          ProofStep& derived = steps.emplace_back();
          derived.kind = ProofStep::Kind::derived;
          derived.hints = {0, 1};
        }
        add_refuted(std::move(steps));
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

  bool add_faults(const std::vector<Node>& nodes) {
    std::vector<WeakFault> faults;
    WeakLevels levels(*chosen_.problem);
    if (!levels.find_faults(level_.id, nodes, faults, budget_)) {
      const bool in_budget = !budget_.exhausted_now();
      return give_up(in_budget ? Unknown{UnknownCause::memory, "the history has too many sessions"}
                               : budget_.reason());
    }
    for (const WeakFault& fault : faults) {
      if (!fault.is_cycle()) {
        add_edge(fault.edges.front(), {});
        continue;
      }
      ProofStep cycle;
      cycle.cycle = fault.edges;
      add_refuted({std::move(cycle)});
    }
    if (!faults.empty()) return true;
    Order order;
    for (const Node n : nodes) order.events.push_back(chosen_.problem->txn[n]);
    judgement_ = Judgement::satisfied(std::move(order));
    return false;
  }

  bool add_forbidden_cycle() {
    if (!chosen_.adya) chosen_.adya.emplace(*chosen_.problem, UpdateOrders::known);
    Judgement found = chosen_.adya->decide(level_.id, budget_);
    if (found.outcome() == Outcome::violated) {
      add_refuted(std::move(found.certificate.proof.steps));
      return true;
    }
    judgement_ = std::move(found);
    return false;
  }

  // A refutation that rests on sources: facts, one cycle, and the contradiction of these. What it rests on cannot all be.
  void add_refuted(std::vector<ProofStep> steps) {
    std::vector<Side> sides;
    const auto rests_on = [&](Side side) {
      if (std::find(sides.begin(), sides.end(), side ^ 1) == sides.end()) sides.push_back(side ^ 1);
    };
    for (ProofStep& step : steps) {
      if (step.kind == ProofStep::Kind::fact && step.source_is_op)
        for (const Side side : make_conditional(step)) rests_on(side);
      if (step.kind != ProofStep::Kind::cycle) continue;
      std::vector<Side> own;
      for (const Edge& edge : step.cycle) note_conditions(edge, own);
      step.given = search_->literals_of(own);
      for (const Side side : own) rests_on(side);
    }
    if (steps.back().kind == ProofStep::Kind::derived)
      steps.back().clause = search_->literals_of(sides);
    search_->add_clause(sides, std::move(steps));
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
    judgement_ = Judgement::unknown(std::move(reason));
    return false;
  }

  // The steps of the search, as steps of a proof.
  Proof prove(const std::vector<RefutationStep>& steps) const {
    Proof proof;
    std::vector<uint32_t> step_of;
    for (const RefutationStep& step : steps) {
      if (step.given != kNoArc) {
        search_->append_clause(step.given, proof);
      } else if (!step.cycle.empty()) {
        append_steps(explain(step.cycle), proof);
      } else {
        ProofStep derived;
        derived.kind = ProofStep::Kind::derived;
        derived.clause = search_->literals_of(step.clause);
        for (const uint32_t hint : step.hints) derived.hints.push_back(step_of[hint]);
        proof.steps.push_back(std::move(derived));
      }
      step_of.push_back(static_cast<uint32_t>(proof.steps.size() - 1));
    }
    tidy_hints(proof);
    return proof;
  }

  // A cycle of the search: the facts that it uses, the cycle, and what follows from them.
  std::vector<ProofStep> explain(std::span<const SidedArc> walk) const {
    std::vector<ProofStep> steps;
    ProofStep cycle, rest;
    std::vector<Side> sides;
    for (const SidedArc& arc : walk) {
      if (arc.conditional != kNoArc) {
        cycle.cycle.push_back(search_->conditional_edge(arc.conditional));
        const std::span<const Side> given = search_->conditions(arc.conditional);
        sides.insert(sides.end(), given.begin(), given.end());
      } else if (arc.side != kKnownSide) {
        cycle.cycle.push_back(search_->edge(arc.arc, arc.side));
        sides.push_back(arc.side);
      } else {
        cycle.cycle.push_back(known_edge(arc.arc, steps, cycle.given));
      }
    }
    std::sort(sides.begin(), sides.end());
    sides.erase(std::unique(sides.begin(), sides.end()), sides.end());
    for (const Side side :
         sides)  // the edges say which orders they assume; facts are given already
      if (const Literal given = search_->literal(side); given.kind != Literal::Kind::order)
        cycle.given.push_back(given);
    const bool facts = !steps.empty();
    steps.push_back(std::move(cycle));
    if (!facts) return steps;
    rest.kind = ProofStep::Kind::derived;
    for (const Side side : sides) rest.clause.push_back(search_->literal(side ^ 1));
    for (uint32_t i = 0; i < steps.size(); ++i) rest.hints.push_back(i);
    steps.push_back(std::move(rest));
    return steps;
  }

  // A stated order is a fact besides, and so is a read with one possible source, which the cycle is given.
  Edge known_edge(Arc arc, std::vector<ProofStep>& facts, std::vector<Literal>& given) const {
    const Arc nodes{problem_.node_of(arc.from), problem_.node_of(arc.to)};
    if (nodes.to == kNone || nodes.from == kNone) return Edge::session_order(arc.from, arc.to);
    if (const auto edge = base_edge(problem_, level_, nodes)) return *edge;
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
      return is_fact(read) && read.sources[0] == arc.from && precedes_reader(h_, level_, read);
    });
    assert(fact != reads.end());
    const OpenRead& read = open_.all()[*fact];
    ProofStep& only = facts.emplace_back();
    only.kind = ProofStep::Kind::sources;
    only.source = read.op;
    only.key = read.key;
    only.clause = {seen(open_, read, arc.from)};
    given.push_back(only.clause[0]);
    return read_edge(read, arc.from);
  }

  const History& h_;
  const LevelInfo& level_;
  const Problem& problem_;
  const OpenReads& open_;
  ChosenSources& chosen_;
  Stages& stages_;
  Budget& budget_;
  Digraph graph_;  // a vertex a transaction
  Search* search_ = nullptr;
  std::vector<uint32_t> place_;  // per transaction, in the first order
  std::vector<Seen> to_name_;    // of the sources taken, what the certificate has to say
  bool facts_ = true;            // reads with one possible source need no choice
  ListChoices lists_;
  std::vector<uint8_t>
      effective_;  // per transaction with open reads: takes effect as the search has it
  std::vector<std::vector<ListChoices::Placed>>
      placed_;  // per list, where the search has placed blocks
  Judgement judgement_;
};

}  // namespace

Judgement decide_with_sources(const Problem& problem, const LevelInfo& level, const OpenReads& open,
                              const Order& first, bool local_search, ChosenSources& chosen,
                              Stages& stages, Budget& budget) {
  const auto timer = stages.time("sources");
  return SourceSearch(problem, level, open, first, chosen, stages, budget).decide(local_search);
}

}  // namespace assay::internal
