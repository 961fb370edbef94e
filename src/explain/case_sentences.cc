#include "explain/case_sentences.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "explain/clauses.h"
#include "explain/names.h"
#include "explain/refutation.h"
#include "levels/proof_hints.h"

namespace assay::internal {
namespace {

constexpr uint32_t kMostShown = 100;  // nodes of a tree that are shown
constexpr size_t kMostForced = 6;     // consequences that are shown in a case

class CaseWords {
 public:
  CaseWords(const CaseTree& tree, const Proof& proof, const Excerpt& excerpt, Explanation& e)
      : tree_(tree), proof_(proof), h_(excerpt.history), clauses_(excerpt, proof), e_(e) {}

  void tell() {
    if (tree_.nodes.empty()) return show_one_cycle();
    e_.case_count = tree_.cases;
    add_case(0);
    const CaseNode& first = first_case();
    std::string text = fmt::format("{} works; {} cases, the first: suppose that {}",
                                   what_is_tried(), tree_.cases, joined(supposed_));
    e_.sentences = {text + ". Then " + what_follows(first) + "."};
    draw(proof_.steps[first.contradicts], "in the first case, ");
  }

 private:
  // "No order of these 4 writers"; adds everything that the tree mentions to the transactions.
  std::string what_is_tried() {
    std::set<TxnId> writers;
    std::set<std::pair<TxnId, KeyId>> reads;
    const auto see = [&](const Literal& l) {
      if (l.kind == Literal::Kind::order) writers.insert({l.from, l.to});
      if (l.kind == Literal::Kind::seen || l.kind == Literal::Kind::block)
        reads.insert({l.to, l.key});
      for (const TxnId t : {l.from, l.to})
        if (t != kNone) e_.transactions.push_back(t);
    };
    for (size_t n = 0; n < tree_.nodes.size(); ++n) {
      if (n > 0) see(tree_.nodes[n].supposed);
      for (const Forced& f : tree_.nodes[n].forced) see(f.literal);
    }
    const std::string order = fmt::format("order of these {} writers", writers.size());
    const std::string sources = fmt::format("choice of what {} read{} returned", reads.size(),
                                            reads.size() == 1 ? "" : "s");
    if (reads.empty()) return "No " + order;
    if (writers.empty()) return "No " + sources;
    return "No " + sources + " and no " + order;
  }

  // Adds the cases, in the order of the tree and within the limit, to e_.cases; returns the index
  // of the node there.
  uint32_t add_case(uint32_t node) {
    const CaseNode& n = tree_.nodes[node];
    const auto place = static_cast<uint32_t>(e_.cases.size());
    e_.cases.emplace_back();
    if (node > 0) e_.cases[place].supposed = in_words(n.supposed);
    if (n.contradicts != kNone) {
      e_.cases[place].then = what_follows(n);
      return place;
    }
    for (const uint32_t branch : {n.first, n.second}) {
      if (e_.cases.size() >= kMostShown) break;
      const uint32_t added = add_case(branch);  // the call moves the cases
      e_.cases[place].branches.push_back(added);
    }
    return place;
  }

  const CaseNode& first_case() {
    const CaseNode* node = &tree_.nodes[0];
    while (node->contradicts == kNone) {
      node = &tree_.nodes[node->first];
      supposed_.push_back(in_words(node->supposed));
    }
    return *node;
  }

  // "it follows that 2-0 comes before 3-0, and 1-0 → 2-0 → 1-0 is a cycle: 2-0 read x = 1, which
  // 1-0 wrote; …"
  std::string what_follows(const CaseNode& leaf) const {
    std::string out;
    for (size_t i = 0; i < std::min(leaf.forced.size(), kMostForced); ++i)
      out += in_words(leaf.forced[i].literal) + ", ";
    if (leaf.forced.size() > kMostForced)
      out += fmt::format("{} more like these, ", leaf.forced.size() - kMostForced);
    if (!out.empty()) out = "it follows that " + out + "and ";
    const ProofStep& step = proof_.steps[leaf.contradicts];
    if (step.kind != ProofStep::Kind::cycle) return out + "that contradicts " + source_of(step);
    out += clauses_.chain(step.cycle) + " is a cycle: ";
    std::string_view before;
    for (const Edge& edge : step.cycle)
      out += std::string(std::exchange(before, "; ")) + clauses_.because(edge);
    return out;
  }

  // Returns what a step other than a cycle states.
  std::string source_of(const ProofStep& step) const {
    if (step.kind == ProofStep::Kind::fact && !step.source_is_op)
      return "the order of versions that the history states";
    if (step.source == kNone || step.kind == ProofStep::Kind::effect)
      return "that what was read was written";
    return "what " + display_txn(h_, h_.txn_of(step.source)) +
           " saw: " + display_op(h_, step.source);
  }

  std::string in_words(const Literal& l) const {
    const auto name = [&](TxnId t) { return display_txn(h_, t); };
    switch (l.kind) {
      case Literal::Kind::order:
        return name(l.from) + " comes before " + name(l.to);
      case Literal::Kind::seen:
        return fmt::format(
            "{} {} {} of {}", name(l.to), l.negated ? "did not see" : "saw",
            l.from == kNone ? std::string("the initial state") : "what " + name(l.from) + " left",
            key_in_words(h_, l.key));
      case Literal::Kind::effect:
        return name(l.to) + (l.negated ? " did not take effect" : " took effect");
      case Literal::Kind::block:
        return fmt::format("what {} appended to {} {} at element {} of what {} read", name(l.from),
                           key_in_words(h_, l.key), l.negated ? "does not begin" : "begins",
                           l.element, name(l.to));
    }
    return {};
  }

  static std::string joined(const std::vector<std::string>& parts) {
    std::string out;
    for (size_t i = 0; i < parts.size(); ++i)
      out += (i == 0 ? "" : i + 1 == parts.size() ? ", and " : ", ") + parts[i];
    return out;
  }

  // Shows one of the cycles in the proof, if there are more cases than the limit.
  void show_one_cycle() {
    std::set<TxnId> writers;
    size_t cycles = 0;
    bool others = false;
    const ProofStep* shortest = nullptr;
    for (const ProofStep& step : proof_.steps) {
      if (step.kind == ProofStep::Kind::derived) continue;
      if (step.kind != ProofStep::Kind::cycle) {
        others = true;
        continue;
      }
      ++cycles;
      for (const Literal& l : assumptions(step))
        if (l.kind == Literal::Kind::order) writers.insert({l.from, l.to});
      if (shortest == nullptr || step.cycle.size() < shortest->cycle.size()) shortest = &step;
    }
    assert(shortest != nullptr && "the cycle to show is one of the proof");
    std::vector<std::string> assumed;
    for (const Literal& l : assumptions(*shortest)) assumed.push_back(in_words(l));
    e_.sentences = {fmt::format(
        "No order of the {} writers works: each closes one of {} cycles{}, in more cases than can "
        "be shown. One of the cycles, {}, exists if {}.",
        writers.size(), cycles, others ? " or contradicts something else that was observed" : "",
        clauses_.chain(shortest->cycle), joined(assumed))};
    draw(*shortest, "if ");
  }

  // Draws the cycle of a step. `when` introduces its assumptions.
  void draw(const ProofStep& step, std::string_view when) {
    for (const Edge& edge : step.cycle) {
      std::string because = clauses_.because(edge);
      if (const auto order = order_assumed(edge))
        because += fmt::format(" ({}{})", when, in_words(*order));
      e_.arrows.push_back({edge.kind, edge.from, edge.to, edge.key, true, std::move(because)});
      e_.transactions.insert(e_.transactions.end(), {edge.from, edge.to});
      if (const OpId op = clauses_.reading(edge); op != kNone) e_.operations.push_back(op);
    }
  }

  const CaseTree& tree_;
  const Proof& proof_;
  const History& h_;
  const Clauses clauses_;
  Explanation& e_;
  std::vector<std::string> supposed_;  // what the first case supposes
};

}  // namespace

void explain_cases(const CaseTree& tree, const Proof& proof, const Excerpt& excerpt,
                   Explanation& e) {
  CaseWords(tree, proof, excerpt, e).tell();
}

}  // namespace assay::internal
