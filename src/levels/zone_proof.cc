// Proofs about the chains of one key.
//
// Two chains must precede each other: say p0 starts one and q0 the other; a reads from the first
// and began after b, of the second, had ended; and the same with the chains exchanged.
//
//   p0 < q0 would close   a -anti→ q0 -read→ b -real time→ a      so q0 < p0
//   q0 < p0 would close   the same with sides changed             a contradiction
//
// If a does not read p0's value but that of a later p2 = cas(p1), p1 = cas(p0): a transaction that
// overwrites p0's value does so after p1 took it; one cycle per link shows that.
//
//   p0 < q0 and q0 < p1 would close   p1 -anti (read p0)→ q0 -write order→ p1
//
// Cost: the links of the chains that the proof names.

#include "levels/zone_proof.h"

#include "levels/proof_hints.h"

namespace assay::internal {
Edge ZoneProof::edge(EdgeKind kind, TxnId from, TxnId to) const {
  Edge e;
  e.kind = kind;
  e.from = from;
  e.to = to;
  if (kind != EdgeKind::real_time) e.key = key_;
  return e;
}

Edge ZoneProof::anti(TxnId reader, uint32_t value, TxnId to) const {
  Edge e = edge(EdgeKind::anti_dependency, reader, to);
  e.via = txn_(value);
  return e;
}

// Adds read dependencies from the writer of `from` to an operation further down its chain.
void ZoneProof::read_along(uint32_t from, const ZonePlace& to, std::vector<Edge>& cycle) const {
  for (uint32_t v = from; v != to.value; v = next_[v])
    cycle.push_back(edge(EdgeKind::read_dependency, txn_(v), txn_(next_[v])));
  if (to.reader) cycle.push_back(edge(EdgeKind::read_dependency, txn_(to.value), to.txn));
}

Proof ZoneProof::both_took(const ZonePlace& value, TxnId first, TxnId second) const {
  Proof proof;
  if (value.txn != kNone) {
    for (const TxnId taker : {first, second})
      proof.steps.push_back(cycle_step({edge(EdgeKind::read_dependency, value.txn, taker),
                                        edge(EdgeKind::write_dependency, taker, value.txn)}));
  }
  proof.steps.push_back(
      cycle_step({anti(first, value.value, second), anti(second, value.value, first)}));
  conclude(proof.steps);
  return proof;
}

Proof ZoneProof::backwards(const ZonePlace& early, const ZonePlace& late) const {
  Proof proof;
  std::vector<Edge> cycle;
  uint32_t from = early.value;
  if (early.reader) {
    from = next_[early.value];
    const TxnId writer = txn_(early.value), taker = txn_(from);
    if (writer != kNone)
      proof.steps.push_back(cycle_step({edge(EdgeKind::read_dependency, writer, taker),
                                        edge(EdgeKind::write_dependency, taker, writer)}));
    cycle.push_back(anti(early.txn, early.value, taker));
  }
  read_along(from, late, cycle);
  cycle.push_back(edge(EdgeKind::real_time, late.txn, early.txn));
  proof.steps.push_back(cycle_step(std::move(cycle)));
  conclude(proof.steps);
  return proof;
}

Proof ZoneProof::ring(uint32_t value) const {
  // Walking back from any value on a branch of the ring leads into the ring; as many steps as there
  // are values are certainly enough.
  for (uint32_t i = 0; i < initial_; ++i) value = source_[value];
  std::vector<Edge> cycle;
  uint32_t v = value;
  do {
    cycle.push_back(edge(EdgeKind::read_dependency, txn_(v), txn_(next_[v])));
    v = next_[v];
  } while (v != value);
  return Proof{{cycle_step(std::move(cycle))}};
}

// The steps that lead from "the chain of a is before that of b" to a contradiction. True if nothing
// had to be assumed.
bool ZoneProof::refute_before(const ZoneBlock& a, const ZoneBlock& b, Proof& proof) const {
  const ZonePlace& late = a.last_begin;
  const TxnId other = txn_(b.head);
  std::vector<Edge> cycle;
  cycle.push_back(late.reader ? anti(late.txn, late.value, other)
                              : edge(EdgeKind::write_dependency, late.txn, other));
  read_along(b.head, b.first_end, cycle);
  cycle.push_back(edge(EdgeKind::real_time, b.first_end.txn, late.txn));
  proof.steps.push_back(cycle_step(std::move(cycle)));
  for (uint32_t v = late.value; v != a.head; v = source_[v])
    proof.steps.push_back(cycle_step(
        {anti(txn_(v), source_[v], other), edge(EdgeKind::write_dependency, other, txn_(v))}));
  return a.head == initial_;
}

Proof ZoneProof::overlap(const ZoneBlock& a, const ZoneBlock& b) const {
  Proof proof;
  if (!refute_before(a, b, proof)) refute_before(b, a, proof);
  conclude(proof.steps);
  return proof;
}

}  // namespace assay::internal
