// Sources as choices: weak levels and Adya's, if several transactions may have left what an
// operation saw.
//
//   s1: A { w(x,1) }   s2: B { w(x,1) w(y,2) }   s3: C { r(x,1) r(y,null) }     read atomic
//   C saw A's x or B's x. If B's, C saw B and yet reads the initial y: a cycle. So C saw A's.
//
// At these levels the source of every read is part of the claim, not only what an order of events
// explains. Each choice of sources turns the history into an ordinary one, for which the level says
// what a transaction has seen, and so which edges hold (weak.cc). These edges rest on those
// sources. As a theory of the search (search.h):
//
//   1. an open read sees the oldest version that is not older than what its reader has seen
//      (waiting_sources.cc); it becomes a choice of its sources if there is none, and when a
//      condition asks for it. A read with one possible source is a fact: its edge is there from the
//      beginning
//   2. with the sources that the search has taken, the level yields the edges that the search's
//      order runs against
//   3. each becomes an edge of the search, on condition of the sources (and outcomes) on the paths
//      that show the seeing; what refutes the level by itself becomes a clause
//
// If the order has no fault, it is the commit order with these sources. Adya's levels, which have
// no commit order, give a clause for each forbidden cycle.
//
// Cost: the matching and the edges of the level in each round, and the search: exponential at worst
// (causal consistency with values written more than once is NP-complete: Bouajjani, Enea,
// Guerraoui, Hamza, POPL 2017).

#include "levels/source_search.h"

#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

#include "history/accesses.h"
#include "levels/explained_order.h"
#include "levels/list_choices.h"
#include "levels/proof_hints.h"
#include "levels/search.h"
#include "levels/source_conditions.h"
#include "levels/source_facts.h"
#include "levels/waiting_sources.h"
#include "levels/weak.h"

namespace assay::internal {
namespace {

class SourceSearch {
 public:
  SourceSearch(const Problem& problem, const LevelInfo& level, const OpenReads& open,
               const Order& first, const SpeedUps& on, ChosenSources& chosen, Stages& stages,
               Budget& budget)
      : h_(*problem.history),
        level_(level),
        problem_(problem),
        open_(open),
        on_(on),
        chosen_(chosen),
        stages_(stages),
        budget_(budget),
        facts_(problem, level, open),
        waiting_(problem, level, open, facts_),
        place_(h_.txn_count(), kNone),
        lists_(open.lists()) {
    for (uint32_t i = 0; i < first.events.size(); ++i) place_[first.events[i]] = i;
  }

  Judgement decide(uint64_t most_conflicts) {
    most_conflicts_ = most_conflicts;
    Digraph graph = facts_.graph(place_);
    std::vector<Vertex> order_before = topological_order(graph, place_);
    if (order_before.size() < graph.vertices()) {  // the facts contradict each other
      facts_.leave_out_reads();
      graph = facts_.graph(place_);
      order_before = topological_order(graph, place_);
    }
    if (on_.has(SpeedUp::lazy_choices) && level_.events == EventModel::weak)
      order_before = explained_order(graph, order_before, open_, waiting_);
    IncrementalOrder order(graph, std::move(order_before));
    Search search(problem_, level_, nullptr, &open_, nullptr, graph, order,
                  {.on = on_.has(SpeedUp::local_search)});
    search_ = &search;
    SourceConditions conditions(h_, facts_, open_, lists_, place_, waiting_, search);
    conditions_ = &conditions;
    bool begun = false;
    const auto check = [&](std::span<const Vertex> now) {
      return std::exchange(begun, true) ? add_what_fails(now) : add_all_sources();
    };
    switch (search.run(check, most_conflicts, stages_, budget_)) {
      case Search::Result::found:
        break;
      case Search::Result::contradiction:
        judgement_ = Judgement::violated(facts_.prove(search.refutation(), search));
        break;
      case Search::Result::out_of_budget:
      case Search::Result::too_hard:
        give_up(budget_.reason());
        break;
    }
    return std::move(judgement_);
  }

 private:
  // Returns whether there is memory for a choice: its edge and clauses, and what the search keeps
  // for each of its sides. If not, gives the reason.
  bool room_for(uint64_t sources) {
    constexpr uint64_t kBytesASource = 250, kAskEvery = 4 << 20;
    more_ += kBytesASource * sources;
    const bool room =
        (more_ < kAskEvery || budget_.has_room(std::exchange(more_, 0))) && !budget_.exhausted();
    return room || give_up(budget_.reason());
  }

  bool add_all_sources() {
    for (uint32_t read = 0; read < open_.all().size(); ++read) {
      if (facts_.is_fact(open_.all()[read]) || may_wait(open_.all()[read])) continue;
      if (!room_for(open_.all()[read].sources.size())) return false;
      search_->add_sources(read, place_);
    }
    for (uint32_t list = 0; list < open_.lists().all().size(); ++list) {
      if (!room_for(open_.lists().all()[list].choices())) return false;
      lists_.make(list, place_, *search_);
    }
    return true;
  }

  // Whether the read becomes a choice only once an edge rests on its source.
  bool may_wait(const OpenRead& read) const {
    return on_.has(SpeedUp::lazy_choices) && !facts_.is_possible(read.reader);
  }
  // Whether walking through the order finds this source: it is the last transaction before the
  // reader that left the key in the observed state, present or absent.
  bool is_found_in_order(const OpenRead& read, OpId op) const {
    const Accepts accepts = observation_of(h_, op).accepts;
    return precedes_reader(h_, level_, read) && read.alone && facts_.is_fact(read) &&
           (accepts == Accepts::equals || accepts == Accepts::absent ||
            (accepts == Accepts::rows && h_.selected(op).predicate == kNone));
  }

  // The sources that the search has chosen, for each operation of a transaction that takes effect:
  // the certain transactions, the sources of their reads, and so on.
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
      if (!facts_.is_possible(read.reader)) add(read.reader);
    for (const OpenList& list : open_.lists().all())
      for (const OpenList::Read& read : list.reads)
        if (!facts_.is_possible(read.reader)) add(read.reader);
    placed_.assign(open_.lists().all().size(), {});
    std::vector<Seen> all;
    while (!work.empty()) {
      const TxnId reader = work.back();
      work.pop_back();
      for (const uint32_t index : open_.of(reader)) {
        const OpenRead& read = open_.all()[index];
        const TxnId source = waiting_.of(index);
        if (source != kNone && facts_.is_possible(source)) add(source);
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
          if (facts_.is_possible(p.txn)) add(p.txn);
        }
      }
    }
    std::sort(all.begin(), all.end());
    std::sort(to_name_.begin(), to_name_.end());
    return all;
  }

  // Adds what excludes the order. False if nothing is wrong with it, or nothing can be said; then
  // the judgement is given.
  bool add_what_fails(std::span<const Vertex> order) {
    for (uint32_t i = 0; i < order.size(); ++i) place_[order[i]] = i;
    const std::vector<uint32_t> unexplained = waiting_.find(place_, *search_);
    if (!unexplained.empty() && most_conflicts_ == 0) return give_up(budget_.reason());
    for (const uint32_t read : unexplained) {
      if (!room_for(open_.all()[read].sources.size())) return false;
      search_->add_sources(read, place_);
    }
    if (!unexplained.empty()) return true;
    std::vector<Seen> sources = taken();
    if (add_what_lists_lack(order)) return true;
    if (!chosen_.choose(h_, std::move(sources), budget_)) return give_up(budget_.reason());
    const Problem& problem = chosen_.problem();
    assert(problem.found.bad_read.anomaly == Anomaly::none && all_seen());
    std::vector<Node> nodes;  // in the order that the search found
    nodes.reserve(problem.nodes());
    for (const Vertex t : order)
      if (problem.node_of(t) != kNone) nodes.push_back(problem.node_of(t));
    const bool failed =
        level_.events == EventModel::adya ? add_forbidden_cycle() : add_faults(nodes);
    if (judgement_.outcome() == Outcome::satisfied) judgement_.certificate.order.sources = to_name_;
    return failed && most_conflicts_ == 0 ? give_up(budget_.reason()) : failed;
  }

  // Adds what excludes blocks that overlap, or whose writers come in another order than the blocks,
  // and readers before what they read.
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
        conditions_->add_edge(Edge::read_dependency(last->txn, read.reader, list.key, read.op),
                              {last->side});
        any = true;
      }
      any = (open_.one_state() && refute_other_list(l)) || any;
    }
    return any;
  }

  // Refutes that a transaction which takes effect by the search's choices read a list twice and got
  // different results.
  bool refute_other_list(uint32_t l) {
    const OpenList& list = open_.lists().all()[l];
    for (const OpenList::Read& longer : list.reads) {
      if (!facts_.is_possible(longer.reader) || !effective_[longer.reader]) continue;
      for (const OpenLists::Place place : open_.lists().reads_of(longer.reader)) {
        if (place.list != l) continue;
        const OpenList::Read& shorter = list.reads[place.read];
        if (shorter.length >= longer.length) continue;
        const ListChoices::Placed* first = ListChoices::last_seen(placed_[l], shorter.length);
        const ListChoices::Placed* second = ListChoices::last_seen(placed_[l], longer.length);
        if (second == nullptr || (first == nullptr && shorter.length > 0)) continue;
        // The reader saw `second`, and yet read the state before that.
        const TxnId reader = longer.reader;
        const Edge seen = Edge::read_dependency(second->txn, reader, list.key, longer.op);
        std::vector<ProofStep> steps;
        if (first == nullptr) {
          steps.push_back(cycle_step(
              {seen, Edge::anti_dependency(reader, second->txn, list.key, kNone, shorter.op)}));
        } else {
          const auto other =
              Edge::forced_order(second->txn, first->txn, list.key, reader, shorter.op, {seen});
          steps.push_back(ListChoices::ordered(list, *first, *second));
          steps.push_back(
              cycle_step({Edge::write_dependency(first->txn, second->txn, list.key), other}));
        }
        conclude(steps);
        add_refuted(std::move(steps));
        return true;
      }
    }
    return false;
  }

  // Whether every open read has a source: then only operations that observe nothing from others are
  // left unresolved: a delete of what the transaction itself wrote, a range that covers no key that
  // others wrote.
  bool all_seen() const {
    return std::ranges::none_of(chosen_.problem().unresolved, [this](OpId op) {
      const std::vector<uint32_t>& reads = open_.of(h_.txn_of(op));
      return std::any_of(reads.begin(), reads.end(), [this, op](uint32_t read) {
        const std::vector<OpId>& ops = open_.all()[read].ops;
        return std::find(ops.begin(), ops.end(), op) != ops.end();
      });
    });
  }

  bool add_faults(const std::vector<Node>& nodes) {
    std::vector<WeakFault> faults;
    WeakLevels levels(chosen_.problem());
    if (!levels.find_faults(level_.id, nodes, faults, budget_)) {
      const bool in_budget = !budget_.exhausted_now();
      return give_up(in_budget ? Unknown{UnknownCause::memory, "the history has too many sessions"}
                               : budget_.reason());
    }
    for (const WeakFault& fault : faults) {
      if (budget_.exhausted_now()) return give_up(budget_.reason());
      if (!fault.is_cycle()) {
        conditions_->add_edge(fault.edges.front());
        continue;
      }
      add_refuted({cycle_step(fault.edges)});
    }
    if (!faults.empty()) return true;
    Order order;
    for (const Node n : nodes) order.events.push_back(chosen_.problem().txn[n]);
    judgement_ = Judgement::satisfied(std::move(order));
    return false;
  }

  bool add_forbidden_cycle() {
    Judgement found = chosen_.decide_adya(level_.id, budget_);
    if (found.outcome() == Outcome::violated) {
      add_refuted(std::move(found.certificate.proof.steps));
      return true;
    }
    judgement_ = std::move(found);
    return false;
  }

  void add_refuted(std::vector<ProofStep> steps) {
    conditions_->add_refuted(std::move(steps), placed_);
  }

  bool give_up(Unknown reason) {
    judgement_ = Judgement::unknown(std::move(reason));
    return false;
  }

  const History& h_;
  const LevelInfo& level_;
  const Problem& problem_;
  const OpenReads& open_;
  const SpeedUps& on_;
  ChosenSources& chosen_;
  Stages& stages_;
  Budget& budget_;
  SourceFacts facts_;
  WaitingSources waiting_;
  Search* search_ = nullptr;
  SourceConditions* conditions_ = nullptr;
  std::vector<uint32_t> place_;  // indexed by transaction: its place in the last order
  uint64_t most_conflicts_ = 0;  // 0: only the first order is examined
  uint64_t more_ = 0;            // bytes of choices since the budget was last asked
  std::vector<Seen> to_name_;    // the chosen sources that the certificate has to name
  ListChoices lists_;
  std::vector<uint8_t>
      effective_;  // indexed by transaction with open reads: whether the search has it take effect
  std::vector<std::vector<ListChoices::Placed>>
      placed_;  // indexed by list: where the search has placed blocks
  Judgement judgement_;
};

}  // namespace

Judgement decide_with_sources(const Problem& problem, const LevelInfo& level, const OpenReads& open,
                              const Order& first, const SpeedUps& on, ChosenSources& chosen,
                              Stages& stages, Budget& budget, uint64_t most_conflicts) {
  const auto timer = stages.time("sources");
  return SourceSearch(problem, level, open, first, on, chosen, stages, budget)
      .decide(most_conflicts);
}

}  // namespace assay::internal
