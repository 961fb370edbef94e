// Edges under the sources that they rest on.
//
//   A { w(x,1) }   B { w(x,1) }   C { r(x,1) }   D { w(x,2) }
//   C -rw x-> D holds if C saw what A left, or what B left, and that came before D: an edge on
//   condition of each
//
// A read dependency rests on the source of the read, an anti-dependency on the source of its
// reader's read, and an edge that a level forces also on each edge of the path by which its reader
// has seen. Each also rests on the effect of the transactions of unknown outcome that it names. A
// refutation rests on everything that its edges rest on, and on the positions of the blocks that
// give the orders of lists.
//
// Cost: for an edge its path, and the reads of the transactions on it.

#include "levels/source_conditions.h"

#include <algorithm>
#include <utility>

namespace assay::internal {

void SourceConditions::add_edge(const Edge& edge, std::vector<Side> sides) {
  note(edge, sides);
  search_.add_edge(edge, std::move(sides));
}

void SourceConditions::note(const Edge& edge, std::vector<Side>& sides) {
  const auto add = [&](Side side) {
    if (std::find(sides.begin(), sides.end(), side) == sides.end()) sides.push_back(side);
  };
  const auto note_effect = [&](TxnId t) {
    if (t != kNone && facts_.is_possible(t)) add(search_.effect_of(t));
  };
  const auto note_seen = [&](TxnId reader, TxnId source) {
    const Side side = side_of(reader, edge.key, edge.op, source);
    if (side != kKnownSide) add(side);
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
      for (const Edge& part : edge.path) note(part, sides);
      return;
    case EdgeKind::session:
    case EdgeKind::real_time:
    case EdgeKind::write_dependency:
      return;
  }
}

// The side which says that the operation saw this source; kKnownSide if that is not a choice.
Side SourceConditions::side_of(TxnId reader, KeyId key, OpId op, TxnId source) {
  for (const uint32_t index : open_.of(reader)) {
    const OpenRead& read = open_.all()[index];
    if (read.key != key || (!open_.one_state() && read.op != op)) continue;
    if (facts_.is_fact(read) && read.sources[0] != source) continue;
    if (search_.sources_of(index).empty()) {
      const TxnId waited = waiting_.of(index);
      search_.add_sources(index, places_, waited == kNone ? 0 : places_[waited] + 1);
    }
    for (const Search::Source& made : search_.sources_of(index))
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

void SourceConditions::add_refuted(std::vector<ProofStep> steps,
                                   std::span<const std::vector<ListChoices::Placed>> placed) {
  std::vector<Side> sides;
  const auto rests_on = [&](Side side) {
    if (std::find(sides.begin(), sides.end(), side ^ 1) == sides.end()) sides.push_back(side ^ 1);
  };
  for (ProofStep& step : steps) {
    if (step.kind == ProofStep::Kind::fact && step.source_is_op)
      for (const Side side : make_conditional(step, placed)) rests_on(side);
    if (step.kind != ProofStep::Kind::cycle) continue;
    std::vector<Side> own;
    for (const Edge& edge : step.cycle) note(edge, own);
    step.given = search_.literals_of(own);
    for (const Side side : own) rests_on(side);
  }
  if (steps.back().kind == ProofStep::Kind::derived)
    steps.back().clause = search_.literals_of(sides);
  search_.add_clause(sides, std::move(steps));
}

// An order stated by a list with open blocks is not a fact, but follows from their places.
std::vector<Side> SourceConditions::make_conditional(
    ProofStep& fact, std::span<const std::vector<ListChoices::Placed>> placed) const {
  for (const OpenLists::Place place : open_.lists().reads_of(h_.txn_of(fact.source))) {
    const OpenList& list = open_.lists().all()[place.list];
    if (list.reads[place.read].op != fact.source) continue;
    const ListChoices::Placed *before = nullptr, *after = nullptr;
    for (const ListChoices::Placed& p : placed[place.list]) {
      if (p.txn == fact.clause[0].from) before = &p;
      if (p.txn == fact.clause[0].to) after = &p;
    }
    if (before == nullptr || after == nullptr) return {};
    fact = ListChoices::ordered(list, *before, *after);
    return {before->side, after->side};
  }
  return {};
}

}  // namespace assay::internal
