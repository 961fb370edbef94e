// Which earlier steps does each step of a refutation need?
//
// A derived step lists hints: earlier steps whose clauses, taken in this order under the negation
// of the step's own clause, each leave one literal open, which must then hold, until one leaves
// none: the contradiction. This is reverse unit propagation with hints, as in LRAT (Cruz-Filipe and
// others, CADE 2017).
//
//   step 0  {b < a}
//   step 1  {a < b, c < d}       under b < a: c < d
//   step 2  {a < b, d < c}       under both: false
//   step 3  derived {}, hints 0 1 2
//
// The search may list more hints than that, because it does not propagate clause by clause: two
// forced orders, for example, may contradict each other directly. So the propagation is repeated
// here with the clauses alone. A hint whose clause already holds is omitted, and so are all hints
// after the contradiction.
//
// Cost: for each derived step, the literals of its hints times the literals that hold.
#include "levels/proof_hints.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace assay::internal {

ProofStep cycle_step(std::vector<Edge> cycle) {
  ProofStep step;
  step.cycle = std::move(cycle);
  return step;
}

ProofStep sources_step(OpId op, KeyId key, std::vector<Literal> clause) {
  ProofStep step;
  step.kind = ProofStep::Kind::sources;
  step.source = op;
  step.key = key;
  step.clause = std::move(clause);
  return step;
}

void conclude(std::vector<ProofStep>& steps, std::vector<Literal> clause) {
  if (steps.size() < 2) return;
  ProofStep last;
  last.kind = ProofStep::Kind::derived;
  last.clause = std::move(clause);
  last.hints.resize(steps.size());
  std::iota(last.hints.begin(), last.hints.end(), 0u);
  steps.push_back(std::move(last));
}

std::optional<Literal> order_assumed(const Edge& edge) {
  if (edge.kind == EdgeKind::write_dependency) return Literal::order(edge.from, edge.to);
  if (edge.kind == EdgeKind::anti_dependency && edge.via != kNone)
    return Literal::order(edge.via, edge.to);
  return std::nullopt;
}

std::vector<Literal> assumptions(const ProofStep& step) {
  std::vector<Literal> out;
  const auto add = [&](const Literal& l) {
    if (std::find(out.begin(), out.end(), l) == out.end()) out.push_back(l);
  };
  for (const Edge& e : step.cycle)
    if (const std::optional<Literal> order = order_assumed(e)) add(*order);
  for (const Literal& l : step.given) add(l);
  return out;
}

std::vector<Literal> clause_of(const ProofStep& step) {
  if (step.kind != ProofStep::Kind::cycle) return step.clause;
  std::vector<Literal> clause;
  for (const Literal& l : assumptions(step)) clause.push_back(!l);
  return clause;
}

namespace {

void tidy_step(const Proof& proof, ProofStep& step) {
  std::vector<Literal> holds;
  for (const Literal& literal : step.clause) holds.push_back(!literal);
  const auto is_true = [&](const Literal& l) {
    return std::find(holds.begin(), holds.end(), l) != holds.end();
  };
  size_t kept = 0;
  for (uint32_t hint : step.hints) {
    Literal open;
    size_t open_count = 0;
    bool satisfied = false;
    for (const Literal& literal : clause_of(proof.steps[hint])) {
      if (is_true(literal)) {
        satisfied = true;
      } else if (!is_true(!literal) && !(literal == open)) {
        open = literal;
        ++open_count;
      }
    }
    if (satisfied) continue;
    step.hints[kept++] = hint;
    if (open_count == 0) break;
    holds.push_back(open);
  }
  step.hints.resize(kept);
}

}  // namespace

void tidy_hints(Proof& proof) {
  for (ProofStep& step : proof.steps)
    if (step.kind == ProofStep::Kind::derived) tidy_step(proof, step);
}

}  // namespace assay::internal
