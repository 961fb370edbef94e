// A refutation is a list of clauses over "a before b", most of them cycles that cannot all be real.
// People understand one cycle better than a list, so we look for the cheapest one whose assumptions
// are forced by others, themselves cheap:
//
//   step 0: if b is before a, then a cycle      so a is before b
//   step 1: if a is before b, then a cycle      contradiction: show step 1, because of step 0
//
// This is unit propagation in order of cost: what is forced most simply is settled first, as in
// Dijkstra's algorithm (Knuth 1977 generalised it to such grammars). Derived clauses take part at
// the price of everything below them; when the contradiction needs one, no single cycle is the
// story. Cost: O(size of the proof × log of its steps).
#include "explain/conclusion.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "levels/proof_hints.h"

namespace assay::internal {

namespace {

struct LiteralHash {
  size_t operator()(const Literal& l) const {
    const size_t ends = static_cast<size_t>(l.from) << 32 | l.to;
    return (ends + l.key + l.negated + (size_t{l.element} << 16)) * 0x9E3779B97F4A7C15u;
  }
};

class Propagation {
 public:
  explicit Propagation(const Proof& proof) : proof_(proof) {
    load();
    run();
  }

  Conclusion conclusion() const {
    Conclusion c;
    if (conflict_ == kNone) {
      c.case_split = true;
      c.cycle = shortest_cycle();
      return c;
    }
    collect(c);
    if (proof_.steps[conflict_].kind == ProofStep::Kind::cycle) {
      c.step = conflict_;
      c.cycle = proof_.steps[conflict_].cycle;
    } else {
      c.case_split = true;
      c.cycle = shortest_cycle();
    }
    return c;
  }

 private:
  struct Clause {
    std::vector<Literal> literals;
    uint64_t cost = 0;  // of itself and of the assumptions refuted so far
    size_t open = 0;    // literals not refuted so far
  };
  struct Known {
    uint32_t step;
    uint64_t cost;
  };
  struct Item {
    uint64_t cost;
    uint32_t step;
    bool operator>(const Item& o) const { return std::tie(cost, step) > std::tie(o.cost, o.step); }
  };

  void load() {
    constexpr uint64_t kDerived = 1000;  // a case split is harder to follow than any cycle
    constexpr uint64_t kMost = uint64_t{1} << 40;
    std::vector<uint64_t> own(proof_.steps.size());
    for (uint32_t s = 0; s < proof_.steps.size(); ++s) {
      const ProofStep& step = proof_.steps[s];
      Clause clause{.literals = clause_of(step)};
      switch (step.kind) {
        case ProofStep::Kind::cycle:
          for (const Edge& e : step.cycle) own[s] += 10 + e.path.size();
          break;
        case ProofStep::Kind::fact:
        case ProofStep::Kind::sources:
        case ProofStep::Kind::effect:
        case ProofStep::Kind::blocks:
          own[s] = 1;
          break;
        case ProofStep::Kind::derived:
          own[s] = kDerived;
          for (const uint32_t hint : step.hints)
            if (hint < s) own[s] = std::min(kMost, own[s] + own[hint]);
          break;
      }
      clause.cost = own[s];
      clause.open = clause.literals.size();
      for (const Literal& b : clause.literals) uses_[!b].push_back(s);
      clauses_.push_back(std::move(clause));
      if (clauses_[s].open <= 1) queue_.push({clauses_[s].cost, s});
    }
  }

  void run() {
    while (!queue_.empty() && conflict_ == kNone) {
      const Item item = queue_.top();
      queue_.pop();
      const Clause& clause = clauses_[item.step];
      if (clause.open == 0) {
        conflict_ = item.step;
        break;
      }
      for (const Literal& b : clause.literals)
        if (!known_.contains(!b)) settle(b, item.step, item.cost);
    }
  }

  void settle(const Literal& b, uint32_t step, uint64_t cost) {
    if (!known_.emplace(b, Known{step, cost}).second) return;
    order_.push_back(b);
    const auto uses = uses_.find(b);
    if (uses == uses_.end()) return;
    for (const uint32_t s : uses->second) {
      Clause& clause = clauses_[s];
      --clause.open;
      clause.cost += cost;
      if (clause.open <= 1) queue_.push({clause.cost, s});
    }
  }

  // Everything the conflict rests on, in the order it was settled.
  void collect(Conclusion& c) const {
    std::vector<char> needed(proof_.steps.size(), 0);
    needed[conflict_] = 1;
    std::vector<ConcludedOrder> reversed;
    std::unordered_set<Literal, LiteralHash> wanted;
    mark_refuters(conflict_, wanted);
    for (auto b = order_.rbegin(); b != order_.rend(); ++b) {
      if (!wanted.contains(*b)) continue;
      const uint32_t step = known_.at(*b).step;
      if (b->kind == Literal::Kind::order) reversed.push_back({*b, step});
      needed[step] = 1;
      mark_refuters(step, wanted);
    }
    c.forced.assign(reversed.rbegin(), reversed.rend());
    for (uint32_t s = 0; s < needed.size(); ++s)
      if (needed[s] && proof_.steps[s].kind == ProofStep::Kind::cycle) ++c.cycle_count;
  }

  // The known orders that refute literals of a step.
  void mark_refuters(uint32_t step, std::unordered_set<Literal, LiteralHash>& wanted) const {
    for (const Literal& b : clauses_[step].literals)
      if (known_.contains(!b)) wanted.insert(!b);
  }

  std::vector<Edge> shortest_cycle() const {
    const std::vector<Edge>* best = nullptr;
    for (const ProofStep& s : proof_.steps)
      if (s.kind == ProofStep::Kind::cycle && (!best || s.cycle.size() < best->size()))
        best = &s.cycle;
    return best ? *best : std::vector<Edge>();
  }

  const Proof& proof_;
  std::vector<Clause> clauses_;
  std::unordered_map<Literal, std::vector<uint32_t>, LiteralHash>
      uses_;  // by the literal that refutes
  std::unordered_map<Literal, Known, LiteralHash> known_;
  std::vector<Literal> order_;
  std::priority_queue<Item, std::vector<Item>, std::greater<>> queue_;
  uint32_t conflict_ = kNone;
};

}  // namespace

Conclusion other_end(const Conclusion& c, const Proof& proof) {
  Conclusion other = c;
  if (c.case_split || c.forced.empty() ||
      proof.steps[c.forced.back().step].kind != ProofStep::Kind::cycle) {
    other.cycle.clear();
    return other;
  }
  ConcludedOrder& last = other.forced.back();
  std::swap(last.step, other.step);
  last.pair = !last.pair;
  other.cycle = proof.steps[other.step].cycle;
  return other;
}

Conclusion conclude(const Proof& proof) { return Propagation(proof).conclusion(); }

}  // namespace assay::internal
