// Four kinds of propositions are open (assay/certificate.h, Literal): the order of two writers of a
// key, the source of an operation's observation of a key, the place of a transaction's elements in
// a list, and whether a transaction of unknown outcome took effect. Edges follow:
//
//   A before B                                   w(A) → w(B), and r(R) → w(B) for every R known
//                                                to have read A's
//   R saw what A left                            w(A) → r(R); and A took effect
//   R saw what A left, and A before B            r(R) → w(B)
//   R saw the initial state                      r(R) → w(B)
//
// each only if its ends take effect. An order of two writers brings the edges of the transactions
// known to have read from them, since they are known when it becomes a choice; all others are added
// one by one, when an order is wrong without them. One source of each open read has to hold, and a
// transaction that was seen took effect; nothing else is required before an order is examined. A
// transaction of unknown outcome that no chosen source needs has no edges that lead anywhere, so it
// constrains nothing.
//
// Theories (choices.cc, source_search.cc) examine an order of the solver and add clauses and edges
// that exclude its faults:
//
//   loop:  what every theory's final check of the order finds wrong becomes choices, edges and
//          clauses; nothing: found
//          the solver takes a side of each choice, which gives the next order; if it cannot, the
//          choices contradict each other
//
// Every addition excludes the order that it was made for, and there are finitely many, so the
// search ends. Lazy generation of lemmas is from SMT (Nieuwenhuis, Oliveras, Tinelli, JACM 2006).

#include "levels/search.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "history/accesses.h"
#include "levels/proof_hints.h"

namespace assay::internal {

Search::Search(const Problem& problem, const LevelInfo& level, const EventGraph* events,
               const OpenReads* open, const SessionClocks* clocks, Digraph& graph,
               IncrementalOrder& order, const Locality& local)
    : problem_(problem),
      level_(level),
      events_(events),
      open_(open),
      clocks_(clocks),
      order_(order),
      solver_(graph, order, local) {
  const History& h = *problem_.history;
  if (open_ == nullptr || (events_ != nullptr && problem_.possible.empty())) return;
  const auto add = [&](TxnId t) {
    possible_.resize(h.txn_count());
    possible_[t] = 1;
    std::vector<KeyId>& keys = possible_writes_[t];
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i)
      if (installs_version(h.op(i))) keys.push_back(h.op(i).key);
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  };
  for (const Node n : problem_.possible) add(problem_.txn[n]);
  for (TxnId t = 0; events_ == nullptr && t < h.txn_count(); ++t)
    if (h.status(t) == TxnStatus::unknown && problem_.node_of(t) == kNone) add(t);
}

Search::Result Search::run(const FinalCheck& check, uint64_t most_conflicts, Stages& stages,
                           Budget& budget) {
  std::optional<Result> result;
  uint64_t rounds = 0;
  while (!result) {
    ++rounds;
    if (!check(order_.order())) {
      result = Result::found;
      break;
    }
    const ChoiceSolver::Result solved = solver_.solve(budget, most_conflicts);
    if (budget.exhausted_now())
      result = Result::out_of_budget;
    else if (solved == ChoiceSolver::Result::out_of_budget)
      result = Result::too_hard;
    else if (solved == ChoiceSolver::Result::contradiction)
      result = Result::contradiction;
  }
  stages.count("rounds of search", rounds);
  stages.count("choices", literals_.size());
  stages.count("conflicts", solver_.conflicts());
  stages.count("decisions", solver_.decisions());
  return *result;
}

std::span<const KeyId> Search::writes_of(TxnId t) const {
  if (is_possible(t)) return possible_writes_.at(t);
  const WriteRange own = problem_.writes.of(problem_.node_of(t));
  return std::span<const KeyId>(problem_.writes.key).subspan(own.first, own.size());
}

Edge read_edge(const OpenRead& read, TxnId source) {
  return Edge::read_dependency(source, read.reader, read.key, read.op);
}

Literal seen(const OpenReads& open, const OpenRead& read, TxnId source) {
  return Literal::seen(read.reader, read.key, source, open.one_state() ? kNone : read.op);
}

bool precedes_reader(const History& history, const LevelInfo& level, const OpenRead& read) {
  return level.events != EventModel::adya || !is_range(history.op(read.op)) ||
         returned(history, read.op, read.key);
}

Side Search::effect_of(TxnId t) {
  const auto [it, fresh] = effects_.try_emplace(t, static_cast<uint32_t>(literals_.size()));
  if (fresh) {
    solver_.add_choice({}, {}, false);
    literals_.push_back(Literal::effect(t));
  }
  return 2 * it->second;
}

bool Search::takes_effect(TxnId t) const {
  const auto made = effects_.find(t);
  return !is_possible(t) || (made != effects_.end() && taken(2 * made->second));
}

Side Search::order_of(TxnId before, TxnId after) {
  const uint64_t low = std::min(before, after), high = std::max(before, after);
  const auto [it, fresh] =
      pairs_.try_emplace(high << 32 | low, static_cast<uint32_t>(literals_.size()));
  const uint32_t choice = it->second;
  if (!fresh) return 2 * choice + (literals_[choice].from == before ? 0 : 1);
  const bool plain = !is_possible(before) && !is_possible(after);
  std::vector<Arc> first, second;
  if (plain) {
    side_edges(before, after, first);
    side_edges(after, before, second);
  }
  solver_.add_choice(first, second, true);
  literals_.push_back(Literal::order(before, after));
  if (!plain) {
    add_edge(order_edge(before, after), {2 * choice});
    add_edge(order_edge(after, before), {2 * choice + 1});
  }
  return 2 * choice;
}

// The edges that follow if one precedes the other in version order.
void Search::side_edges(TxnId before, TxnId after, std::vector<Arc>& arcs) const {
  arcs.push_back({write_event(before), overwrite_event(after)});
  if (events_ == nullptr) return;
  const Node a = problem_.node_of(before), b = problem_.node_of(after);
  for (const WriteId w : problem_.writes.of(a)) {
    if (problem_.write_of(b, problem_.writes.key[w]) == kNone) continue;
    for (const Node reader : problem_.readers[w]) {
      if (reader == b) continue;
      const bool implied = clocks_ != nullptr &&
                           clocks_->reaches(events_->read_event(reader), events_->write_event(b));
      if (!implied) arcs.push_back({events_->read_event(reader), events_->write_event(b)});
    }
  }
}

Side Search::add_block(const Literal& block, bool prefer) {
  literals_.push_back(block);
  return 2 * solver_.add_choice({}, {}, prefer);
}

void Search::add_sources(uint32_t read, Places places, std::optional<uint32_t> from) {
  const OpenRead& r = open_->all()[read];
  const bool precedes = precedes_reader(*problem_.history, level_, r);
  // For keys of aggregates, other clauses than the one that some source holds refer to sources, so
  // each of these choices is decided.
  const bool aggregated = open_->aggregates().need(read);
  std::vector<Side> clause;
  std::vector<uint32_t> group;
  std::vector<Source>& made = sources_[read];
  const std::vector<TxnId> sources = nearest_first(r, from.value_or(places[read_event(r.reader)]),
                                                   [&](TxnId t) { return places[write_event(t)]; });
  for (const TxnId t : sources) {
    const bool plain = precedes && t != kNone && !is_possible(t) && !is_possible(r.reader);
    const Arc arc{plain ? write_event(t) : 0, read_event(r.reader)};
    const bool prefer = !aggregated || group.empty();
    group.push_back(solver_.add_choice({&arc, plain ? size_t{1} : size_t{0}}, {}, prefer));
    clause.push_back(2 * group.back());
    made.push_back({clause.back(), t});
    literals_.push_back(seen(*open_, r, t));
  }
  if (!group.empty() && !aggregated) solver_.group(group, read_event(r.reader));
  if (is_possible(r.reader)) clause.push_back(effect_of(r.reader) ^ 1);
  add_clause(clause, sources_step(r.op, r.key));
  for (const auto& [side, t] : made) {
    if (t == kNone || (!is_possible(t) && !is_possible(r.reader))) continue;
    if (precedes) add_edge(read_edge(r, t), {side});
    if (!is_possible(t)) continue;
    std::vector<Side> sides = {side ^ 1, effect_of(t)};
    if (is_possible(r.reader)) sides.push_back(effect_of(r.reader) ^ 1);
    ProofStep effect;
    effect.kind = ProofStep::Kind::effect;
    add_clause(sides, std::move(effect));
  }
}

std::span<const Search::Source> Search::sources_of(uint32_t read) const {
  const auto made = sources_.find(read);
  return made == sources_.end() ? std::span<const Source>() : made->second;
}

void Search::assume(std::span<const Arc> edges) {
  solver_.assume(edges);
  literals_.emplace_back();  // not of a step of a proof
}

void Search::add_edge(Edge edge, std::vector<Side> sides) {
  for (const TxnId t : {edge.from, edge.to})
    if (is_possible(t) && std::ranges::find(sides, effect_of(t)) == sides.end())
      sides.push_back(effect_of(t));
  const Arc arc = arc_of(edge);
  conditional_.push_back({std::move(edge), sides});
  solver_.add_conditional(arc, sides);
}

Arc Search::arc_of(const Edge& edge) const {
  switch (edge.kind) {
    case EdgeKind::read_dependency:
      return {write_event(edge.from), read_event(edge.to)};
    case EdgeKind::anti_dependency:
      return {read_event(edge.from), write_event(edge.to)};
    case EdgeKind::real_time:
      return {edge.from_write ? write_event(edge.from) : read_event(edge.from),
              edge.to_write ? write_event(edge.to) : read_event(edge.to)};
    case EdgeKind::write_dependency:
    case EdgeKind::forced:
    case EdgeKind::session:
      break;
  }
  return {write_event(edge.from), overwrite_event(edge.to)};
}

void Search::add_clause(std::span<const Side> sides, ProofStep step) {
  step.clause = literals_of(sides);
  add_clause(sides, std::vector{std::move(step)});
}

void Search::add_clause(std::span<const Side> sides, std::vector<ProofStep> steps) {
  clauses_.push_back(std::move(steps));
  solver_.add_clause(sides);
}

std::vector<Literal> Search::literals_of(std::span<const Side> sides) const {
  std::vector<Literal> literals;
  for (const Side side : sides) literals.push_back(literal(side));
  return literals;
}

void Search::append_clause(uint32_t number, Proof& proof) const {
  append_steps(clauses_[number], proof);
}

void append_refutation(std::span<const RefutationStep> steps, const Search& search, Proof& proof,
                       const std::function<void(size_t)>& add_cycle) {
  std::vector<uint32_t> step_of;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].given != kNoArc) {
      search.append_clause(steps[i].given, proof);
    } else if (!steps[i].cycle.empty()) {
      add_cycle(i);
    } else {
      ProofStep& derived = proof.steps.emplace_back();
      derived.kind = ProofStep::Kind::derived;
      derived.clause = search.literals_of(steps[i].clause);
      for (const uint32_t hint : steps[i].hints) derived.hints.push_back(step_of[hint]);
    }
    step_of.push_back(static_cast<uint32_t>(proof.steps.size() - 1));
  }
}

void append_steps(std::span<const ProofStep> steps, Proof& proof) {
  const auto before = static_cast<uint32_t>(proof.steps.size());
  for (const ProofStep& step : steps) {
    proof.steps.push_back(step);
    for (uint32_t& hint : proof.steps.back().hints) hint += before;
  }
}

Edge Search::order_edge(TxnId before, TxnId after) const {
  Edge edge = Edge::write_dependency(before, after, kNone);
  const std::span<const KeyId> others = writes_of(after);
  for (const KeyId key : writes_of(before))
    if (edge.key == kNone && std::ranges::binary_search(others, key)) edge.key = key;
  return edge;
}

// The write dependency between two writers, the anti-dependency of a transaction that is known to
// have read from the first, or the read dependency on a source.
Edge Search::edge(Arc arc, Side side) const {
  const Literal l = literal(side);
  if (l.kind == Literal::Kind::seen) {
    for (const uint32_t read : open_->of(l.to)) {
      const OpenRead& r = open_->all()[read];
      if (r.key == l.key && (open_->one_state() || r.op == l.op)) return read_edge(r, l.from);
    }
  }
  Edge order = order_edge(l.from, l.to);
  const Arc write = arc_of(order);
  if (events_ == nullptr || (arc.from == write.from && arc.to == write.to)) return order;
  const Node reader = events_->node_of(arc.from), first = problem_.node_of(l.from),
             second = problem_.node_of(l.to);
  Edge edge = Edge::anti_dependency(problem_.txn[reader], l.to, kNone, l.from);
  for (const ExternalRead& read : problem_.reads[reader]) {
    const bool reads_first = read.write != kNone && problem_.writes.node[read.write] == first;
    if (reads_first && problem_.write_of(second, read.key) != kNone) edge.key = read.key;
  }
  return edge;
}

}  // namespace assay::internal
