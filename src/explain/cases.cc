#include "explain/cases.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "explain/conclusion.h"
#include "levels/proof_hints.h"

namespace assay::internal {
namespace {

constexpr uint64_t kMostVisits = 1'000'000;  // of clauses
constexpr size_t kMostTried = 64;            // literals at a division
constexpr size_t kMostNodes = 2000;

class CaseSearch {
 public:
  explicit CaseSearch(const Proof& proof) {
    for (uint32_t s = 0; s < proof.steps.size(); ++s)
      if (proof.steps[s].kind != ProofStep::Kind::derived)
        clauses_.push_back({s, clause_of(proof.steps[s])});
  }

  std::optional<CaseTree> run() {
    nodes_.emplace_back();
    CaseTree tree;
    if (!divide(0)) return tree;
    if (nodes_[0].contradicts != kNone) return std::nullopt;
    keep(0, tree);
    return tree;
  }

 private:
  struct Clause {
    uint32_t step;
    std::vector<Literal> literals;
  };
  // Why a literal holds: the clause whose other literals are all false.
  struct Settled {
    Literal literal;
    size_t clause;
  };
  static constexpr size_t kNoClause = SIZE_MAX;
  static constexpr size_t kSupposed = SIZE_MAX - 1;

  bool holds(const Literal& l) const { return true_.contains(l); }
  bool fails(const Literal& l) const { return true_.contains(!l); }
  void settle(const Literal& l, size_t clause) {
    true_.insert(l);
    trail_.push_back({l, clause});
  }
  void undo(size_t size) {
    while (trail_.size() > size) {
      true_.erase(trail_.back().literal);
      trail_.pop_back();
    }
  }

  // Settles what follows; the clause that nothing can satisfy, kNoClause if there is none.
  size_t propagate() {
    for (bool more = true; more;) {
      more = false;
      for (size_t c = 0; c < clauses_.size(); ++c) {
        ++visits_;
        const Literal* open = nullptr;
        size_t count = 0;
        bool satisfied = false;
        for (const Literal& l : clauses_[c].literals) {
          satisfied = satisfied || holds(l);
          if (satisfied) break;
          if (!fails(l)) open = &l, ++count;
        }
        if (satisfied || count > 1) continue;
        if (count == 0) return c;
        settle(*open, c);
        more = true;
      }
    }
    return kNoClause;
  }

  using Literals = std::set<Literal>;

  // The case `node`, given what is settled: which of what is supposed its contradictions rest on. None if the limit was
  // reached.
  std::optional<Literals> divide(uint32_t node) {
    const size_t before = trail_.size();
    std::optional<Literals> used;
    if (const size_t conflict = propagate(); conflict != kNoClause)
      used = close(node, conflict);
    else if (const std::optional<Literal> l = best(); l && within_limits())
      used = both(node, *l);
    undo(before);
    return used;
  }

  bool within_limits() const { return visits_ <= kMostVisits && nodes_.size() <= kMostNodes; }

  // Either way. A case that does without what is supposed stands for both.
  std::optional<Literals> both(uint32_t node, const Literal& l) {
    Literals used;
    for (const Literal& supposed : {l, !l}) {
      const auto branch = static_cast<uint32_t>(nodes_.size());
      nodes_.emplace_back().supposed = supposed;
      const size_t size = trail_.size();
      settle(supposed, kSupposed);
      std::optional<Literals> by_branch = divide(branch);
      undo(size);
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

  // Notes what was forced on the way, if the contradiction rests on it.
  Literals close(uint32_t node, size_t conflict) {
    Literals needed, used;
    const auto rest_on = [&](size_t clause) {
      for (const Literal& l : clauses_[clause].literals)
        if (fails(l)) needed.insert(!l);
    };
    rest_on(conflict);
    CaseNode& leaf = nodes_[node];
    for (size_t i = trail_.size(); i-- > 0;) {
      const auto& [literal, clause] = trail_[i];
      if (!needed.contains(literal)) continue;
      if (clause == kSupposed) {
        used.insert(literal);
      } else {
        leaf.forced.push_back(literal);
        rest_on(clause);
      }
    }
    std::reverse(leaf.forced.begin(), leaf.forced.end());
    leaf.contradicts = clauses_[conflict].step;
    return used;
  }

  size_t leaves(uint32_t node) const {
    const CaseNode& n = nodes_[node];
    return n.contradicts != kNone ? 1 : leaves(n.first) + leaves(n.second);
  }

  // What is left of the nodes, in the order of the tree, the case that is divided less first.
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

  // The literal whose two cases settle most, each of which best ends in a contradiction; none if all is settled.
  std::optional<Literal> best() {
    std::map<Literal, size_t> open;  // how many short clauses have it
    for (const Clause& clause : clauses_) {
      const bool satisfied = std::any_of(clause.literals.begin(), clause.literals.end(),
                                         [&](const Literal& l) { return holds(l); });
      if (satisfied) continue;
      for (const Literal& l : clause.literals)
        if (!fails(l)) open[std::min(l, !l)] += clause.literals.size() == 2 ? 4 : 1;
    }
    std::vector<std::pair<size_t, Literal>> candidates;
    for (const auto& [l, weight] : open) candidates.emplace_back(weight, l);
    std::sort(candidates.begin(), candidates.end(), std::greater<>());
    if (candidates.size() > kMostTried) candidates.resize(kMostTried);
    std::optional<Literal> chosen;
    size_t most = 0;
    for (const auto& [weight, l] : candidates) {
      if (const size_t gain = 1 + settled_by(l) * settled_by(!l); gain > most) {
        most = gain;
        chosen = l;
      }
    }
    return chosen;
  }

  size_t settled_by(const Literal& l) {
    constexpr size_t kContradiction = 10'000;
    const size_t before = trail_.size();
    settle(l, kSupposed);
    const bool closed = propagate() != kNoClause;
    const size_t settled = trail_.size() - before;
    undo(before);
    return closed ? kContradiction : settled;
  }

  std::vector<Clause> clauses_;
  std::set<Literal> true_;
  std::vector<Settled> trail_;
  std::vector<CaseNode> nodes_;  // some stand for another and are left behind
  uint64_t visits_ = 0;
};

}  // namespace

std::optional<CaseTree> case_tree(const Proof& proof) { return CaseSearch(proof).run(); }

}  // namespace assay::internal
