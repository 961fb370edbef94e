// A proof is a list of cycles, and clauses that follow from them (assay/certificate.h).
//
// Known edges need no assumption. A derived edge assumes the version order it was derived from; a
// separate cycle proves that order, namely the one that the opposite order would close with edges
// derived earlier:
//
//   step 0  cycle: if T1's x came before T2's, then S → T2 (S read T1's x) and T2 → S (y)   clause
//           {T2 < T1}
//   step 1  cycle using the edge T2 → T1 …                                                  clause
//           {not T2 < T1}
//   step 2  derived, hints 0 1: the empty clause
//
// So the justification is not recursive: the forced orders that are needed, directly or for each
// other, are collected first and proved in the order of their derivation, each as one cycle and, if
// that cycle used others, one unit clause. Only what the final contradiction needs is written. The
// path of each cycle is searched when it is needed, among the edges known at the time
// (known_paths.cc). Cost: one such search for each forced order.

#include "levels/proof_builder.h"

#include <algorithm>

#include "base/sort_by.h"
#include "levels/proof_hints.h"

namespace assay::internal {
namespace {

std::vector<SidedArc> known_walk(std::span<const Vertex> path) {
  std::vector<SidedArc> walk;
  for (size_t i = 0; i + 1 < path.size(); ++i) walk.push_back({{path[i], path[i + 1]}, kKnownSide});
  return walk;
}

}  // namespace

Literal ProofBuilder::literal(Node before, Node after) const {
  const Problem& problem = events_.problem();
  return Literal::order(problem.txn[before], problem.txn[after]);
}

Edge ProofBuilder::explain_derived(const DerivedEdge& derived) const {
  const Problem& problem = events_.problem();
  const ForcedOrder& forced = known_.forced[derived.forced];
  Edge edge;
  edge.kind = derived.kind;
  edge.key = derived.key;
  edge.to = problem.txn[forced.after];
  edge.from = problem.txn[forced.before];
  if (derived.kind == EdgeKind::anti_dependency) {
    edge.via = edge.from;
    edge.from = problem.txn[derived.reader];
  }
  return edge;
}

// Adds an edge, and the assumption about a read whose only possible source the reads-from relation
// assumes.
void ProofBuilder::add_edge(Cycle& cycle, Edge edge) const {
  const Problem& problem = events_.problem();
  if (!problem.assumed.empty() &&
      (edge.kind == EdgeKind::read_dependency || edge.kind == EdgeKind::anti_dependency)) {
    const History& h = events_.history();
    const bool reads = edge.kind == EdgeKind::read_dependency;
    const TxnId reader = reads ? edge.to : edge.from, source = reads ? edge.from : edge.via;
    auto seen = std::lower_bound(problem.assumed.begin(), problem.assumed.end(), h.first_op(reader),
                                 [](const Seen& s, OpId op) { return s.op < op; });
    while (seen != problem.assumed.end() && seen->op < h.end_op(reader) &&
           (seen->key != edge.key || seen->source != source))
      ++seen;
    if (seen != problem.assumed.end() && seen->op < h.end_op(reader)) {
      edge.op = kNone;
      give(cycle, Literal::seen(reader, edge.key, source));
      cycle.assumed.push_back(*seen);
    }
  }
  cycle.edges.push_back(std::move(edge));
}

// Adds an assumption, unless it is an order: the edges themselves say which orders they assume.
void ProofBuilder::give(Cycle& cycle, const Literal& literal) const {
  if (literal.kind == Literal::Kind::order) return;
  if (std::find(cycle.given.begin(), cycle.given.end(), literal) == cycle.given.end())
    cycle.given.push_back(literal);
}

ProofBuilder::Cycle ProofBuilder::explain(const Walk& walk, const Search* search) const {
  Cycle cycle;
  size_t start = 0;
  while (!events_.is_event(walk[start].arc.from)) ++start;
  std::vector<Vertex> helpers;
  Vertex from = walk[start].arc.from;
  for (size_t i = 0; i < walk.size(); ++i) {
    const SidedArc& step = walk[(start + i) % walk.size()];
    const Vertex to = step.arc.to;
    if (!events_.is_event(to)) {
      helpers.push_back(to);
      continue;
    }
    if (step.conditional != kNoArc) {
      add_edge(cycle, search->conditional_edge(step.conditional));
      for (const Side side : search->conditions(step.conditional))
        give(cycle, search->literal(side));
    } else if (step.side != kKnownSide) {
      add_edge(cycle, search->edge(step.arc, step.side));
      give(cycle, search->literal(step.side));
    } else if (events_.node_of(from) != events_.node_of(to)) {  // r(T) → w(T) is never listed
      const uint32_t found = helpers.empty() ? events_.graph().find(step.arc) : Digraph::kBuiltIn;
      if (found == Digraph::kBuiltIn) {
        add_edge(cycle, events_.reason(from, helpers, to));
      } else {
        const DerivedEdge& derived = known_.edges[found];
        add_edge(cycle, explain_derived(derived));
        cycle.forced.push_back(derived.forced);
      }
    }
    helpers.clear();
    from = to;
  }
  return cycle;
}

// The cycle that the opposite of a forced order would close.
ProofBuilder::Cycle ProofBuilder::justify(const ForcedOrder& forced) {
  const Problem& problem = events_.problem();
  Edge closing;
  closing.key = forced.key;
  Vertex tail = events_.write_event(forced.after);
  Vertex head = events_.overwrite_event(forced.before);
  if (forced.reader == kNone) {
    closing.kind = EdgeKind::write_dependency;
    closing.from = problem.txn[forced.after];
  } else {
    closing.kind = EdgeKind::anti_dependency;
    closing.from = problem.txn[forced.reader];
    closing.via = problem.txn[forced.after];
    tail = events_.read_event(forced.reader);
    head = events_.write_event(forced.before);
  }
  closing.to = problem.txn[forced.before];
  // The walk is open here (head … tail); the closing edge goes in front of the edges that explain
  // it.
  Cycle cycle;
  add_edge(cycle, closing);
  const std::vector<Vertex> path = paths_.find(head, tail, forced.edges_known);
  if (path.size() > 1) {
    Cycle back = explain(known_walk(path), nullptr);
    cycle.edges.insert(cycle.edges.end(), back.edges.begin(), back.edges.end());
    cycle.forced = std::move(back.forced);
    for (const Literal& literal : back.given) give(cycle, literal);
    cycle.assumed.insert(cycle.assumed.end(), back.assumed.begin(), back.assumed.end());
  }
  return cycle;
}

// The steps that prove what the cycle assumes: forced orders, which have steps already, and reads
// with one possible source, which get theirs here.
std::vector<uint32_t> ProofBuilder::units_of(const Cycle& cycle) {
  std::vector<uint32_t> steps;
  for (const Seen& seen : cycle.assumed) {
    const auto [it, fresh] =
        source_step_.try_emplace(seen, static_cast<uint32_t>(proof_.steps.size()));
    steps.push_back(it->second);
    if (!fresh) continue;
    const TxnId reader = events_.history().txn_of(seen.op);
    proof_.steps.push_back(
        sources_step(seen.op, seen.key, {Literal::seen(reader, seen.key, seen.source)}));
  }
  for (uint32_t forced : cycle.forced) {
    const auto it = std::lower_bound(unit_step_.begin(), unit_step_.end(),
                                     std::pair<uint32_t, uint32_t>{forced, 0});
    steps.push_back(it->second);
  }
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

// Adds a cycle and, if it assumes what other steps prove, the clause that follows.
void ProofBuilder::add_clause_of(Cycle cycle, std::vector<Literal> clause) {
  ProofStep derived;
  derived.kind = ProofStep::Kind::derived;
  derived.clause = std::move(clause);
  derived.hints = units_of(cycle);
  derived.hints.push_back(static_cast<uint32_t>(proof_.steps.size()));
  proof_.steps.push_back(cycle_step(std::move(cycle.edges)));
  proof_.steps.back().given = std::move(cycle.given);
  if (derived.hints.size() > 1) proof_.steps.push_back(std::move(derived));
}

// Adds a unit clause for each of the wanted forced orders, and for the orders on which they rest.
void ProofBuilder::prove_forced(std::vector<uint32_t> wanted) {
  std::vector<std::pair<uint32_t, Cycle>> cycles;
  while (!wanted.empty()) {
    const uint32_t f = wanted.back();
    wanted.pop_back();
    if (!paths_.add_proved(f)) continue;
    Cycle cycle;
    if (known_.forced[f].why == ForcedOrder::Why::closed) cycle = justify(known_.forced[f]);
    wanted.insert(wanted.end(), cycle.forced.begin(), cycle.forced.end());
    cycles.emplace_back(f, std::move(cycle));
  }
  stable_sort_by(cycles, [](const auto& forced) { return forced.first; });
  for (auto& [f, cycle] : cycles) {
    const ForcedOrder& forced = known_.forced[f];
    ProofStep unit;
    unit.clause.push_back(literal(forced.before, forced.after));
    if (forced.why == ForcedOrder::Why::stated) {
      unit.kind = ProofStep::Kind::fact;
      unit.source = forced.source;
      unit.source_is_op = forced.source_is_op;
      proof_.steps.push_back(std::move(unit));
    } else {
      add_clause_of(std::move(cycle), std::move(unit.clause));
    }
    unit_step_.emplace_back(f, static_cast<uint32_t>(proof_.steps.size() - 1));
  }
}

Proof ProofBuilder::from_cycle(std::span<const Vertex> vertices) {
  std::vector<Vertex> closed(vertices.begin(), vertices.end());
  closed.push_back(vertices.front());
  return from_explained(explain(known_walk(closed), nullptr));
}

Proof ProofBuilder::from_closing_edge(const DerivedEdge& closing) {
  const std::vector<Vertex> path = paths_.find(closing.arc.to, closing.arc.from, kNone);
  Cycle cycle;
  if (path.size() > 1) cycle = explain(known_walk(path), nullptr);
  add_edge(cycle, explain_derived(closing));
  cycle.forced.push_back(closing.forced);
  return from_explained(std::move(cycle));
}

Proof ProofBuilder::from_explained(Cycle cycle) {
  prove_forced(cycle.forced);
  add_clause_of(std::move(cycle), {});
  return finish();
}

Proof ProofBuilder::from_refutation(std::span<const RefutationStep> steps, const Search& search) {
  std::vector<Cycle> cycles(steps.size());
  std::vector<uint32_t> wanted;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].cycle.empty()) continue;
    cycles[i] = explain(steps[i].cycle, &search);
    wanted.insert(wanted.end(), cycles[i].forced.begin(), cycles[i].forced.end());
  }
  prove_forced(std::move(wanted));
  append_refutation(steps, search, proof_, [&](size_t i) {
    add_clause_of(std::move(cycles[i]), search.literals_of(steps[i].clause));
  });
  return finish();
}

Proof ProofBuilder::finish() {
  tidy_hints(proof_);
  return std::move(proof_);
}

}  // namespace assay::internal
