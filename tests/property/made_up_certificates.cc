#include "made_up_certificates.h"

#include <algorithm>
#include <utility>

#include "certificate_edits.h"

namespace assay {
namespace {

// Edges that a careless prover might believe in: everything that has the right shape.
class Edges {
 public:
  Edges(Rng& rng, const History& history) : rng_(rng), h_(history) {
    for (TxnId a = 0; a < h_.txn_count(); ++a)
      for (TxnId b = 0; b < h_.txn_count(); ++b)
        if (a != b) between(a, b);
    add_forced();
  }

  std::vector<Edge> any_cycle() {
    std::vector<Edge> cycle = {any(all_)};
    while (cycle.size() < 4 && cycle.back().to != cycle.front().from) {
      std::vector<Edge> next;
      const bool must_close = cycle.size() == 3 || rng_.chance(0.5);
      for (const Edge& e : all_)
        if (e.from == cycle.back().to && (!must_close || e.to == cycle.front().from))
          next.push_back(e);
      if (next.empty()) return cycle;
      cycle.push_back(any(next));
    }
    return cycle;
  }
  bool empty() const { return all_.empty(); }

 private:
  const Edge& any(const std::vector<Edge>& edges) { return edges[rng_.below(edges.size())]; }

  bool writes(TxnId t, KeyId k, VersionId v = kNone) const {
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
      const Operation op = h_.op(i);
      const bool write = op.kind != OpKind::read && op.kind != OpKind::read_list &&
                         op.kind != OpKind::range && op.effect;
      if (write && op.key == k && (v == kNone || op.version == v)) return true;
    }
    return false;
  }

  // Some read of `k` by `t` returned what `writer` (kNone: the initial state) might have written.
  bool reads(TxnId t, KeyId k, TxnId writer) const {
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
      const Operation op = h_.op(i);
      if (op.kind == OpKind::range || op.key != k || writes(t, k, op.version)) continue;
      if (writer == kNone ? h_.is_initial(op.version) : writes(writer, k, op.version)) return true;
    }
    return false;
  }

  void add(EdgeKind kind, TxnId a, TxnId b, KeyId k = kNone, TxnId via = kNone) {
    Edge e;
    e.kind = kind;
    e.from = a;
    e.to = b;
    e.key = k;
    e.via = via;
    all_.push_back(e);
  }

  void between(TxnId a, TxnId b) {
    if (h_.session(a) == h_.session(b)) add(EdgeKind::session, a, b);
    for (int sides = 0; sides < 4; ++sides) {
      if (rng_.chance(0.8)) continue;  // else they would be most of all edges
      add(EdgeKind::real_time, a, b);
      all_.back().from_write = sides & 1;
      all_.back().to_write = sides & 2;
    }
    for (KeyId k = 0; k < h_.key_count(); ++k) {
      if (writes(a, k) && writes(b, k)) add(EdgeKind::write_order, a, b, k);
      if (reads(b, k, a)) add(EdgeKind::read_from, a, b, k);
      if (!writes(b, k)) continue;
      if (reads(a, k, kNone)) add(EdgeKind::anti, a, b, k);
      for (TxnId via = 0; via < h_.txn_count(); ++via)
        if (reads(a, k, via)) add(EdgeKind::anti, a, b, k, via);
    }
  }

  void add_forced() {
    const std::vector<Edge> plain = all_;
    for (const Edge& order : plain) {
      if (order.kind != EdgeKind::write_order) continue;
      for (const Edge& last : plain) {
        if (last.kind != EdgeKind::session && last.kind != EdgeKind::read_from) continue;
        Edge e = order;
        e.kind = EdgeKind::forced;
        e.via = last.to;
        if (last.from == order.from) e.path = {last};
        const Edge& first = any(plain);
        if (e.path.empty() && first.from == order.from && first.to == last.from)
          e.path = {first, last};
        if (!e.path.empty()) all_.push_back(e);
      }
    }
  }

  Rng& rng_;
  const History& h_;
  std::vector<Edge> all_;
};

Certificate any_refutation(Rng& rng, const History& h, Edges& edges) {
  Certificate c;
  c.kind = Certificate::Kind::proof;
  c.levels = every_level();
  for (uint64_t cycles = 1 + rng.below(3); cycles > 0; --cycles) {
    ProofStep step;
    step.cycle = edges.any_cycle();
    c.proof.steps.push_back(std::move(step));
  }
  for (OpId i = 0; i < h.op_count(); ++i) {
    if (h.op(i).kind != OpKind::read_list || rng.chance(0.5)) continue;
    ProofStep fact;
    fact.kind = ProofStep::Kind::fact;
    fact.clause = {{below(rng, h.txn_count()), below(rng, h.txn_count())}};
    fact.source = i;
    fact.source_is_op = true;
    c.proof.steps.push_back(std::move(fact));
  }
  if (c.proof.steps.size() > 1) {
    ProofStep last;
    last.kind = ProofStep::Kind::derived;
    for (uint32_t s = 0; s < c.proof.steps.size(); ++s) last.hints.push_back(s);
    c.proof.steps.push_back(std::move(last));
  }
  return c;
}

}  // namespace

Certificate any_order(Rng& rng, const History& h) {
  Certificate c;
  c.levels = every_level();
  c.order.split = rng.chance(0.6);
  auto& events = c.order.events;
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    const bool present = h.status(t) == TxnStatus::committed ||
                         (h.status(t) == TxnStatus::unknown && rng.chance(0.6));
    if (present) events.push_back(t);
  }
  // Near file order as often as far from it.
  for (uint64_t swaps = rng.below(2 * events.size() + 1); swaps > 0 && !events.empty(); --swaps)
    std::swap(events[rng.below(events.size())], events[rng.below(events.size())]);
  if (!c.order.split) return c;
  std::vector<uint32_t> split;
  for (uint32_t t : events) split.insert(split.end(), {2 * t, 2 * t + 1});
  for (size_t i = 1; i < split.size(); ++i)
    if (split[i] / 2 != split[i - 1] / 2 && rng.chance(0.5)) std::swap(split[i], split[i - 1]);
  events = std::move(split);
  return c;
}

std::vector<Certificate> any_refutations(Rng& rng, const History& history, int count) {
  Edges edges(rng, history);
  std::vector<Certificate> made;
  while (!edges.empty() && static_cast<int>(made.size()) < count)
    made.push_back(any_refutation(rng, history, edges));
  return made;
}

}  // namespace assay
