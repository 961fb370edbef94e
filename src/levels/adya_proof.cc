// What the history states for the dependencies of a cycle, the cycle, and what follows from these.
//
//   order x: 1 2     s1: T1 { w(x,1) }  s2: T2 { w(x,2) }  s3: T3 { r(x,1) }
//   T3 -rw x-> T2 needs that T2 came after T1, which T3 read from: a fact, by the stated order
//
// A write dependency rests on one statement, and an anti-dependency on one or on a chain of them:
// were the overwriting version before the one that was read, the versions between would close a
// cycle. An order that follows from an update is not stated, but if the update's own version were
// the earlier one, the update and the writer that it read from would be on a cycle. Cost: linear in
// the cycle and its chains.

#include "levels/adya_proof.h"

#include <utility>

#include "levels/proof_hints.h"
#include "levels/weak.h"

namespace assay::internal {
namespace {

Edge written_after(const Problem& problem, Node before, Node after, KeyId key) {
  return Edge::write_dependency(problem.txn[before], problem.txn[after], key);
}

// A step that says that a transaction which read a version and overwrote it came after the
// version's writer.
ProofStep update_step(const Problem& problem, Node source, Node update, KeyId key, OpId read) {
  return cycle_step({written_after(problem, update, source, key),
                     Edge::read_dependency(problem.txn[source], problem.txn[update], key, read)});
}

}  // namespace

Proof prove_cycle(const Problem& problem, const Dependencies& dependencies,
                  std::span<const uint32_t> cycle) {
  Proof proof;
  const auto state = [&](uint32_t index) {
    const StatedOrder& stated = dependencies.stated()[index];
    proof.steps.push_back(
        dependencies.stated().is_update(index)
            ? update_step(problem, stated.before, stated.after, stated.key, stated.source)
            : stated_fact(problem, stated));
  };
  std::vector<Edge> closed;
  for (const uint32_t i : cycle) {
    const Dependency& d = dependencies.all()[i];
    Edge& edge = closed.emplace_back();
    edge.kind = d.kind;
    edge.from = problem.txn[d.from];
    edge.to = problem.txn[d.to];
    edge.key = d.key;
    edge.op = d.op;
    if (d.via != kNone) edge.via = problem.txn[problem.writes.node[d.via]];
    if (d.kind == EdgeKind::write_dependency) state(d.stated);
    if (d.kind == EdgeKind::anti_dependency && d.via != kNone && d.chain == kNone)
      state(dependencies.stated().between(d.via, d.to));
    if (d.chain == kNone) continue;
    std::vector<Edge> between;
    for (const uint32_t index : dependencies.chain(d.chain)) {
      state(index);
      const StatedOrder& stated = dependencies.stated()[index];
      between.push_back(written_after(problem, stated.before, stated.after, d.key));
    }
    between.push_back(written_after(problem, d.to, problem.writes.node[d.via], d.key));
    proof.steps.push_back(cycle_step(std::move(between)));
  }
  proof.steps.push_back(cycle_step(std::move(closed)));
  conclude(proof.steps);
  return proof;
}

// In either order of the two updates one is lost: the transaction that comes later read what the
// other overwrote.
Proof prove_divergence(const Problem& problem, const Divergence& divergence) {
  Proof proof;
  for (const int later : {0, 1}) {
    const Node loser = divergence.node[later], winner = divergence.node[1 - later];
    const ExternalRead& read = divergence.read[later];
    Edge anti =
        Edge::anti_dependency(problem.txn[loser], problem.txn[winner], read.key, kNone, read.op);
    if (read.write != kNone) {
      const Node source = problem.writes.node[read.write];
      anti.via = problem.txn[source];
      proof.steps.push_back(
          update_step(problem, source, winner, read.key, divergence.read[1 - later].op));
    }
    proof.steps.push_back(
        cycle_step({std::move(anti), written_after(problem, winner, loser, read.key)}));
  }
  conclude(proof.steps);
  return proof;
}

}  // namespace assay::internal
