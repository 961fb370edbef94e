// The facts of a search for sources: edges that need no choice.
//
//   s1: A { w(x,1) }   s2: B { r(x,1) }  C { r(x,null) }      A before B, as no other wrote 1; B
//                                                             before C, by session order
//
// A read with one possible source is a fact as long as both certainly take effect. In a proof it is
// a separate step, which says that no other source is possible; a stated order is a step, too, and
// session order needs none.
//
// Cost: linear in the history; for a cycle, the statements about each edge.

#include "levels/source_facts.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/sort_by.h"
#include "infer/reads_from.h"
#include "levels/proof_hints.h"
#include "levels/weak.h"

namespace assay::internal {

Digraph SourceFacts::graph(std::vector<uint32_t>& places) const {
  std::vector<Arc> arcs;
  const auto add = [&](TxnId from, TxnId to) { arcs.push_back({from, to}); };
  std::vector<TxnId> previous(h_.session_count(), kNone);
  for (TxnId t = 0; t < h_.txn_count() && level_.session_order; ++t) {
    if (h_.status(t) == TxnStatus::aborted) continue;
    TxnId& before = previous[h_.session(t)];
    if (before != kNone) add(before, t);
    // A transaction that takes effect only perhaps has no place in the first order: it goes right
    // after the last one of its session.
    if (places[t] == kNone) places[t] = before == kNone ? 0 : places[before];
    if (h_.status(t) == TxnStatus::committed) before = t;
  }
  each_external_read(problem_, [&](Node n, const ExternalRead& read) {
    if (read.write != kNone) add(problem_.txn[problem_.writes.node[read.write]], problem_.txn[n]);
  });
  for (const OpenRead& read : open_.all())
    if (is_fact(read) && read.sources[0] != kNone && precedes_reader(h_, level_, read))
      add(read.sources[0], read.reader);
  for (const StatedOrder& stated : problem_.stated)
    add(problem_.txn[stated.before], problem_.txn[stated.after]);
  stable_sort_by(arcs, [](Arc a) { return pack(a.from, a.to); });
  arcs.erase(std::unique(arcs.begin(), arcs.end()), arcs.end());
  for (uint32_t& place : places)
    if (place == kNone) place = 0;
  return Digraph(h_.txn_count(), arcs);
}

Proof SourceFacts::prove(const std::vector<RefutationStep>& steps, const Search& search) const {
  Proof proof;
  append_refutation(steps, search, proof,
                    [&](size_t i) { append_steps(explain(steps[i].cycle, search), proof); });
  tidy_hints(proof);
  return proof;
}

// Explains a cycle of the search: the facts that it uses, the cycle, and what follows from them.
std::vector<ProofStep> SourceFacts::explain(std::span<const SidedArc> walk,
                                            const Search& search) const {
  std::vector<ProofStep> steps;
  ProofStep cycle;
  std::vector<Side> sides;
  for (const SidedArc& arc : walk) {
    if (arc.conditional != kNoArc) {
      cycle.cycle.push_back(search.conditional_edge(arc.conditional));
      const std::span<const Side> given = search.conditions(arc.conditional);
      sides.insert(sides.end(), given.begin(), given.end());
    } else if (arc.side != kKnownSide) {
      cycle.cycle.push_back(search.edge(arc.arc, arc.side));
      sides.push_back(arc.side);
    } else {
      cycle.cycle.push_back(known_edge(arc.arc, steps, cycle.given));
    }
  }
  std::sort(sides.begin(), sides.end());
  sides.erase(std::unique(sides.begin(), sides.end()), sides.end());
  for (const Side side : sides)  // the edges say which orders they assume, and facts are given
                                 // already
    if (const Literal given = search.literal(side); given.kind != Literal::Kind::order)
      cycle.given.push_back(given);
  steps.push_back(std::move(cycle));
  std::vector<Literal> clause;
  for (const Side side : sides) clause.push_back(search.literal(side ^ 1));
  conclude(steps, std::move(clause));
  return steps;
}

// A known edge with its reason: a stated order is added to the facts, and a read with one possible
// source to `given`.
Edge SourceFacts::known_edge(Arc arc, std::vector<ProofStep>& facts,
                             std::vector<Literal>& given) const {
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
  given.push_back(seen(open_, read, arc.from));
  facts.push_back(sources_step(read.op, read.key, {given.back()}));
  return read_edge(read, arc.from);
}

}  // namespace assay::internal
