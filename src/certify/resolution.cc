#include "certify/resolution.h"

#include <algorithm>

#include "certify/refusal.h"

namespace assay::internal::certify {

Resolution::Code Resolution::code(Literal literal) {
  const bool negative =
      literal.kind == Literal::Kind::order ? literal.from > literal.to : literal.negated;
  const auto next = static_cast<uint32_t>(variable_.size());
  const auto [it, fresh] = variable_.try_emplace(negative ? !literal : literal, next);
  if (fresh) true_in_.resize(true_in_.size() + 2, 0);
  return 2 * it->second + negative;
}

void Resolution::append(std::vector<Code>& codes) {
  std::sort(codes.begin(), codes.end());
  codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
  literals_.insert(literals_.end(), codes.begin(), codes.end());
  begin_.push_back(literals_.size());
}

void Resolution::add_refuted(std::span<const Literal> together) {
  std::vector<Code> codes;
  for (const Literal& literal : together) codes.push_back(negation(code(literal)));
  append(codes);
}

void Resolution::add_stated(std::span<const Literal> clause) {
  std::vector<Code> codes;
  for (const Literal& literal : clause) codes.push_back(code(literal));
  append(codes);
}

Status Resolution::add_derived(std::span<const Literal> clause, std::span<const uint32_t> hints) {
  ++derivation_;
  std::vector<Code> codes;
  for (const Literal& literal : clause) {
    if (literal.kind == Literal::Kind::order && literal.from == literal.to)
      return refuse("a clause orders a transaction and itself");
    codes.push_back(code(literal));
    if (!assume(negation(codes.back()))) return refuse("a derived clause is always true");
  }
  if (Status s = propagate(hints); !s.ok()) return s;
  append(codes);
  return Ok{};
}

// Returns false if the opposite is already assumed.
bool Resolution::assume(Code c) {
  if (true_in_[negation(c)] == derivation_) return false;
  true_in_[c] = derivation_;
  return true;
}

// Goes through the hints until one of them has no literal left that is not false.
Status Resolution::propagate(std::span<const uint32_t> hints) {
  for (uint32_t hint : hints) {
    if (hint >= size()) return refuse("hint {} is not an earlier step", hint);
    Code left = kNone;
    bool satisfied = false;
    for (const Code c : clause(hint)) {
      if (++visits_ > kMaxVisits) return too_much("the proof is too long to verify");
      satisfied = satisfied || true_in_[c] == derivation_;
      if (satisfied || true_in_[negation(c)] == derivation_) continue;
      if (left != kNone) return refuse("hint {} is not a unit clause when its turn comes", hint);
      left = c;
    }
    if (satisfied) continue;  // the hint says nothing new
    if (left == kNone) return Ok{};
    assume(left);
  }
  return refuse("the hints do not end in a contradiction");
}

}  // namespace assay::internal::certify
