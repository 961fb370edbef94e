#include "made_up_certificates.h"

#include <algorithm>
#include <map>
#include <utility>

#include "certificate_edits.h"

namespace assay::internal {
namespace {

// All edges of a history that have the right shape, by what the transactions do, not by what they
// saw.
class EdgeShapes {
 public:
  explicit EdgeShapes(const History& history) : h_(history) {}

  std::vector<Edge> all() {
    for (TxnId a = 0; a < h_.txn_count(); ++a)
      for (TxnId b = 0; b < h_.txn_count(); ++b)
        if (a != b) between(a, b);
    add_forced();
    return std::move(all_);
  }

 private:
  bool writes(TxnId t, KeyId k) const {
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
      const Operation op = h_.op(i);
      const bool write = op.kind != OpKind::read && op.kind != OpKind::read_list &&
                         op.kind != OpKind::range && op.effect;
      if (write && op.key == k) return true;
    }
    return false;
  }

  // Operations of `t` that may see the key: by name, or as a range.
  std::vector<OpId> looks_at(TxnId t, KeyId k) const {
    std::vector<OpId> ops;
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
      const Operation op = h_.op(i);
      const bool sees = op.kind != OpKind::write && op.kind != OpKind::remove &&
                        op.kind != OpKind::append && (op.kind == OpKind::range || op.key == k);
      if (sees) ops.push_back(i);
    }
    return ops;
  }

  Edge& add(EdgeKind kind, TxnId a, TxnId b, KeyId k = kNone, TxnId via = kNone, OpId op = kNone) {
    Edge e;
    e.kind = kind;
    e.from = a;
    e.to = b;
    e.key = k;
    e.via = via;
    e.op = op;
    return all_.emplace_back(std::move(e));
  }

  void between(TxnId a, TxnId b) {
    if (h_.session(a) == h_.session(b)) add(EdgeKind::session, a, b);
    if (h_.begin_time(a).known() && h_.begin_time(b).known())
      for (int sides = 0; sides < 4; ++sides) {
        Edge& e = add(EdgeKind::real_time, a, b);
        e.from_write = sides & 1;
        e.to_write = sides & 2;
      }
    for (KeyId k = 0; k < h_.key_count(); ++k) {
      if (writes(a, k) && writes(b, k)) add(EdgeKind::write_dependency, a, b, k);
      if (writes(a, k))
        for (const OpId op : looks_at(b, k)) add(EdgeKind::read_dependency, a, b, k, kNone, op);
      if (!writes(b, k)) continue;
      for (const OpId op : looks_at(a, k))
        for (TxnId via = 0; via <= h_.txn_count(); ++via) {
          const bool initial = via == h_.txn_count();
          if (via == a || (!initial && !writes(via, k))) continue;
          add(EdgeKind::anti_dependency, a, b, k, initial ? kNone : via, op);
        }
    }
  }

  // The order of two writers that a path of one or two edges to a reader of the second forces.
  void add_forced() {
    const std::vector<Edge> plain = all_;
    std::vector<Edge> paths;
    std::map<std::pair<TxnId, TxnId>, Edge> step;  // one of them for each pair
    for (const Edge& e : plain) {
      if (e.kind != EdgeKind::session && e.kind != EdgeKind::read_dependency) continue;
      paths.push_back(e);
      step.try_emplace({e.from, e.to}, e);
    }
    for (const Edge& order : plain) {
      if (order.kind != EdgeKind::write_dependency) continue;
      for (const Edge& last : paths) {
        const auto first = step.find({order.from, last.from});
        const bool direct = last.from == order.from;
        if (!direct && first == step.end()) continue;
        for (const OpId op : looks_at(last.to, order.key)) {
          Edge e = order;
          e.kind = EdgeKind::forced;
          e.via = last.to;
          e.op = op;
          if (!direct) e.path = {first->second};
          e.path.push_back(last);
          all_.push_back(std::move(e));
        }
      }
    }
  }

  const History& h_;
  std::vector<Edge> all_;
};

// What the edge says was read is something that its source wrote: most others are refused at sight.
bool plausible(const History& h, const Edge& e) {
  if (e.kind != EdgeKind::read_dependency && e.kind != EdgeKind::anti_dependency) return true;
  const Operation op = h.op(e.op);
  const TxnId source = e.kind == EdgeKind::anti_dependency ? e.via : e.from;
  if (op.kind == OpKind::range || op.kind == OpKind::insert) return true;
  const VersionId seen = op.kind == OpKind::cas ? h.operands(e.op)[0] : op.version;
  if (source == kNone) return h.is_initial(seen) || h.operands(e.op).empty();
  for (OpId i = h.first_op(source); i < h.end_op(source); ++i)
    if (h.op(i).version == seen) return true;
  return false;
}

// `all` is sorted by the transaction that an edge leaves.
std::vector<Edge> any_cycle(Rng& rng, const std::vector<Edge>& all) {
  const auto any = [&rng](const std::vector<Edge>& edges) {
    return edges[rng.below(edges.size())];
  };
  std::vector<Edge> cycle = {any(all)};
  while (cycle.size() < 4 && cycle.back().to != cycle.front().from) {
    std::vector<Edge> next;
    const bool must_close = cycle.size() == 3 || rng.chance(0.5);
    const auto leaves = [](const Edge& e, TxnId t) { return e.from < t; };
    const TxnId at = cycle.back().to;
    const auto begin = std::lower_bound(all.begin(), all.end(), at, leaves);
    const auto end = std::lower_bound(begin, all.end(), at + 1, leaves);
    for (auto e = begin; e != end; ++e)
      if (!must_close || e->to == cycle.front().from) next.push_back(*e);
    if (next.empty()) return cycle;
    cycle.push_back(any(next));
  }
  return cycle;
}

Certificate any_refutation(Rng& rng, const History& h, const std::vector<Edge>& edges) {
  Certificate c;
  c.kind = Certificate::Kind::proof;
  c.levels = every_level();
  for (uint64_t cycles = 1 + rng.below(3); cycles > 0; --cycles) {
    ProofStep step;
    step.cycle = any_cycle(rng, edges);
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

std::vector<Edge> every_edge(const History& history) { return EdgeShapes(history).all(); }

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
  std::vector<Edge> edges = every_edge(history);
  std::erase_if(edges, [&](const Edge& e) {
    // Else most would be these.
    const bool common = (e.kind == EdgeKind::real_time && rng.chance(0.8)) ||
                        (e.kind == EdgeKind::forced && rng.chance(0.9));
    return common || !plausible(history, e) ||
           !std::all_of(e.path.begin(), e.path.end(),
                        [&](const Edge& p) { return plausible(history, p); });
  });
  std::stable_sort(edges.begin(), edges.end(),
                   [](const Edge& a, const Edge& b) { return a.from < b.from; });
  std::vector<Certificate> made;
  while (!edges.empty() && static_cast<int>(made.size()) < count)
    made.push_back(any_refutation(rng, history, edges));
  return made;
}

}  // namespace assay::internal
