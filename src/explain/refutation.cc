// A refutation is a list of clauses over "a before b", most of them cycles that cannot all be real.
// People understand one cycle better than a list, so we look for the cheapest one whose assumptions
// are forced by others, themselves cheap:
//
//   step 0: if b is before a, then a cycle      so a is before b
//   step 1: if a is before b, then a cycle      contradiction: show step 1, because of step 0
//
// This is unit propagation in order of cost: the literal with the simplest reason is assigned
// first, as in Dijkstra's algorithm (Knuth 1977 generalised it to such grammars). O(size of the
// proof × log of its steps).
//
// If that ends without a contradiction, no single cycle is the story:
//
//   1 and 2 wrote x, 3 and 4 wrote y, and each of the four ways to order both pairs closes a cycle
//   of its own. So none of the four is the violation, but the fact that all of them are closed:
//
//   suppose 1 before 2
//     suppose 3 before 4    closes one cycle
//     suppose 4 before 3    closes another
//   suppose 2 before 1      ...
//
// The tree is found among the proof's input clauses, without its derived ones, as a solver would
// (Davis, Logemann and Loveland 1962): the consequences of a supposition are assigned first; if
// there are none, the tree divides on the literal that forces most. A case that does not use its
// supposition replaces both. Smaller trees may exist. Cost: the literals that are tried at each
// division times the proof's size, up to a limit; a proof that needs more has no tree here.
#include "explain/refutation.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <unordered_map>
#include <utility>

#include "levels/proof_hints.h"

namespace assay::internal {
namespace {

constexpr uint64_t kMostVisits = 100'000;  // visits of clauses
constexpr size_t kMostTried = 64;          // literals that are tried at a division
constexpr size_t kMostNodes = 2000;

struct LiteralHash {
  size_t operator()(const Literal& l) const {
    const size_t ends = static_cast<size_t>(l.from) << 32 | l.to;
    return (ends + l.key + l.negated + (size_t{l.element} << 16)) * 0x9E3779B97F4A7C15u;
  }
};

// Unit propagation over the input clauses of a proof, the cheapest first.
class Propagation {
 public:
  struct Clause {
    uint32_t step;
    std::vector<Literal> literals;
    uint64_t cost;    // the cost of the clause and of what refutes its literals so far
    size_t open = 0;  // number of literals that are not refuted yet
  };

  explicit Propagation(const Proof& proof) {
    for (uint32_t s = 0; s < proof.steps.size(); ++s) {
      const ProofStep& step = proof.steps[s];
      if (step.kind == ProofStep::Kind::derived) continue;
      Clause clause{s, clause_of(step), step.cycle.empty()};
      for (const Edge& e : step.cycle) clause.cost += 10 + e.path.size();
      clause.open = clause.literals.size();
      const auto c = static_cast<uint32_t>(clauses_.size());
      for (const Literal& l : clause.literals) uses_[!l].push_back(c);
      if (clause.open <= 1) queue_.emplace(clause.cost, c);
      clauses_.push_back(std::move(clause));
    }
  }

  const std::vector<Clause>& clauses() const { return clauses_; }
  const std::vector<Literal>& trail() const { return trail_; }
  uint64_t visits() const { return visits_; }
  bool holds(const Literal& l) const { return known_.contains(l); }
  bool fails(const Literal& l) const { return known_.contains(!l); }
  // The clause that forces a literal; kNone if the literal is supposed.
  uint32_t reason(const Literal& l) const { return known_.at(l).clause; }

  void suppose(const Literal& l) { assign(l, kNone, 0); }

  // Assigns the consequences; returns a clause that cannot be satisfied, kNone if there is none.
  uint32_t propagate() {
    while (!queue_.empty()) {
      const auto [cost, c] = queue_.top();
      queue_.pop();
      if (clauses_[c].open == 0) {
        queue_ = {};
        return c;
      }
      for (const Literal& l : clauses_[c].literals)
        if (!fails(l)) assign(l, c, cost);
    }
    return kNone;
  }

  // Takes back assignments until `size` are left.
  void undo(size_t size) {
    for (; trail_.size() > size; trail_.pop_back()) {
      const auto known = known_.find(trail_.back());
      for (const uint32_t c : used_by(trail_.back())) {
        ++clauses_[c].open;
        clauses_[c].cost -= known->second.cost;
      }
      known_.erase(known);
    }
  }

  // The literals that were forced on the way to a contradiction and on which it rests, in this
  // order; adds its suppositions to `supposed`.
  std::vector<Forced> ways_to(uint32_t conflict, std::set<Literal>& supposed) const {
    std::vector<Forced> forced;
    std::set<Literal> needed;
    const auto rest_on = [&](uint32_t clause) {
      for (const Literal& l : clauses_[clause].literals)
        if (fails(l)) needed.insert(!l);
    };
    rest_on(conflict);
    for (auto l = trail_.rbegin(); l != trail_.rend(); ++l) {
      if (!needed.contains(*l)) continue;
      const uint32_t clause = reason(*l);
      if (clause == kNone) {
        supposed.insert(*l);
      } else {
        forced.push_back({*l, clauses_[clause].step});
        rest_on(clause);
      }
    }
    std::reverse(forced.begin(), forced.end());
    return forced;
  }

 private:
  struct Known {
    uint32_t clause;
    uint64_t cost;
  };
  using Item = std::pair<uint64_t, uint32_t>;

  std::span<const uint32_t> used_by(const Literal& l) const {
    const auto uses = uses_.find(l);
    return uses == uses_.end() ? std::span<const uint32_t>() : uses->second;
  }

  void assign(const Literal& l, uint32_t clause, uint64_t cost) {
    if (!known_.emplace(l, Known{clause, cost}).second) return;
    trail_.push_back(l);
    for (const uint32_t c : used_by(l)) {
      ++visits_;
      clauses_[c].cost += cost;
      if (--clauses_[c].open <= 1) queue_.emplace(clauses_[c].cost, c);
    }
  }

  std::vector<Clause> clauses_;
  std::unordered_map<Literal, std::vector<uint32_t>, LiteralHash> uses_;  // by the literal that
                                                                          // refutes
  std::unordered_map<Literal, Known, LiteralHash> known_;
  std::vector<Literal> trail_;  // the known literals, in the order of their assignment
  std::priority_queue<Item, std::vector<Item>, std::greater<>> queue_;
  uint64_t visits_ = 0;
};

class CaseSearch {
 public:
  explicit CaseSearch(const Proof& proof) : known_(proof) {}

  std::optional<CaseTree> run() {
    nodes_.emplace_back();
    CaseTree tree;
    if (!divide(0)) return tree;
    if (nodes_[0].contradicts != kNone) return std::nullopt;
    keep(0, tree);
    return tree;
  }

 private:
  using Literals = std::set<Literal>;

  // Divides the case `node`, given the assignments; returns the suppositions on which its
  // contradictions rest. nullopt if the limit was reached.
  std::optional<Literals> divide(uint32_t node) {
    const size_t before = known_.trail().size();
    std::optional<Literals> used;
    if (const uint32_t conflict = known_.propagate(); conflict != kNone) {
      used.emplace();
      nodes_[node].forced = known_.ways_to(conflict, *used);
      nodes_[node].contradicts = known_.clauses()[conflict].step;
    } else if (const std::optional<Literal> l = best(); l && within_limits()) {
      used = both(node, *l);
    }
    known_.undo(before);
    return used;
  }

  bool within_limits() const {
    return known_.visits() <= kMostVisits && nodes_.size() <= kMostNodes;
  }

  // Tries both sides. A case that does not use its supposition replaces both.
  std::optional<Literals> both(uint32_t node, const Literal& l) {
    Literals used;
    for (const Literal& supposed : {l, !l}) {
      const auto branch = static_cast<uint32_t>(nodes_.size());
      nodes_.emplace_back().supposed = supposed;
      const size_t size = known_.trail().size();
      known_.suppose(supposed);
      std::optional<Literals> by_branch = divide(branch);
      known_.undo(size);
      if (!by_branch) return std::nullopt;
      if (by_branch->erase(supposed) == 0) {
        const Literal own = nodes_[node].supposed;
        nodes_[node] = nodes_[branch];
        nodes_[node].supposed = own;
        return by_branch;
      }
      (supposed == l ? nodes_[node].first : nodes_[node].second) = branch;
      used.merge(*by_branch);
    }
    return used;
  }

  size_t leaves(uint32_t node) const {
    const CaseNode& n = nodes_[node];
    return n.contradicts != kNone ? 1 : leaves(n.first) + leaves(n.second);
  }

  // Keeps the nodes that are still in the tree, in its order; of two cases, the one that is divided
  // less comes first.
  uint32_t keep(uint32_t node, CaseTree& tree) const {
    const auto place = static_cast<uint32_t>(tree.nodes.size());
    tree.nodes.push_back(nodes_[node]);
    if (nodes_[node].contradicts != kNone) {
      ++tree.cases;
      return place;
    }
    auto [less, more] = std::pair(nodes_[node].first, nodes_[node].second);
    if (leaves(more) < leaves(less)) std::swap(less, more);
    const uint32_t first = keep(less, tree), second = keep(more, tree);
    tree.nodes[place].first = first;
    tree.nodes[place].second = second;
    return place;
  }

  // The literal whose two cases decide most; preferably each ends in a contradiction. Empty if
  // everything is decided; nullopt at the limit.
  std::optional<Literal> best() {
    std::map<Literal, size_t> open;  // how many short clauses contain the literal
    for (const Propagation::Clause& clause : known_.clauses()) {
      if (std::ranges::any_of(clause.literals, [&](const Literal& l) { return known_.holds(l); }))
        continue;
      for (const Literal& l : clause.literals)
        if (!known_.fails(l)) open[std::min(l, !l)] += clause.literals.size() == 2 ? 4 : 1;
    }
    std::vector<std::pair<size_t, Literal>> candidates;
    for (const auto& [l, weight] : open) candidates.emplace_back(weight, l);
    std::sort(candidates.begin(), candidates.end(), std::greater<>());
    if (candidates.size() > kMostTried) candidates.resize(kMostTried);
    std::optional<Literal> chosen;
    size_t most = 0;
    for (const auto& [weight, l] : candidates) {
      if (const size_t gain = 1 + assigned_by(l) * assigned_by(!l); gain > most) {
        most = gain;
        chosen = l;
      }
    }
    return chosen;
  }

  size_t assigned_by(const Literal& l) {
    constexpr size_t kContradiction = 10'000;
    const size_t before = known_.trail().size();
    known_.suppose(l);
    const bool closed = known_.propagate() != kNone;
    const size_t assigned = known_.trail().size() - before;
    known_.undo(before);
    return closed ? kContradiction : assigned;
  }

  Propagation known_;
  std::vector<CaseNode> nodes_;  // some have been replaced by others and are unused
};

}  // namespace

Conclusion conclude(const Proof& proof) {
  Propagation known(proof);
  Conclusion c;
  const uint32_t conflict = known.propagate();
  std::set<Literal> supposed;
  if (conflict != kNone) {
    c.forced = known.ways_to(conflict, supposed);
    c.step = known.clauses()[conflict].step;
  } else {
    for (const Literal& l : known.trail())
      c.forced.push_back({l, known.clauses()[known.reason(l)].step});
  }
  std::erase_if(c.forced, [](const Forced& f) { return f.literal.kind != Literal::Kind::order; });
  c.case_split = conflict == kNone || proof.steps[c.step].kind != ProofStep::Kind::cycle;
  if (c.case_split) {
    c.step = kNone;
    for (uint32_t s = 0; s < proof.steps.size(); ++s)
      if (proof.steps[s].kind == ProofStep::Kind::cycle &&
          (c.step == kNone || proof.steps[s].cycle.size() < proof.steps[c.step].cycle.size()))
        c.step = s;
  }
  if (c.step != kNone) c.cycle = proof.steps[c.step].cycle;
  return c;
}

Conclusion other_end(const Conclusion& c, const Proof& proof) {
  Conclusion other = c;
  if (c.case_split || c.forced.empty() ||
      proof.steps[c.forced.back().step].kind != ProofStep::Kind::cycle) {
    other.cycle.clear();
    return other;
  }
  Forced& last = other.forced.back();
  std::swap(last.step, other.step);
  last.literal = !last.literal;
  other.cycle = proof.steps[other.step].cycle;
  return other;
}

std::optional<CaseTree> case_tree(const Proof& proof) { return CaseSearch(proof).run(); }

}  // namespace assay::internal
