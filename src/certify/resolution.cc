#include "certify/resolution.h"

#include <algorithm>

#include "certify/refusal.h"

namespace assay::certify {

Resolution::Literal Resolution::literal(const Before& b) {
  const uint64_t lo = std::min(b.before, b.after), hi = std::max(b.before, b.after);
  const auto next = static_cast<uint32_t>(variable_.size());
  const auto [it, fresh] = variable_.try_emplace(lo << 32 | hi, next);
  if (fresh) true_in_.resize(true_in_.size() + 2, 0);
  return 2 * it->second + (b.before < b.after ? 0 : 1);
}

void Resolution::append(std::vector<Literal>& literals) {
  std::sort(literals.begin(), literals.end());
  literals.erase(std::unique(literals.begin(), literals.end()), literals.end());
  literals_.insert(literals_.end(), literals.begin(), literals.end());
  begin_.push_back(literals_.size());
}

void Resolution::add_refuted(std::span<const Before> together) {
  std::vector<Literal> literals;
  for (const Before& b : together) literals.push_back(negation(literal(b)));
  append(literals);
}

void Resolution::add_fact(const Before& fact) {
  std::vector<Literal> literals = {literal(fact)};
  append(literals);
}

Status Resolution::add_derived(std::span<const Before> clause, std::span<const uint32_t> hints) {
  ++derivation_;
  std::vector<Literal> literals;
  for (const Before& b : clause) {
    if (b.before == b.after) return refuse("a clause orders a transaction and itself");
    literals.push_back(literal(b));
    if (!assume(negation(literals.back()))) return refuse("a derived clause says nothing");
  }
  if (Status s = propagate(hints); !s.ok()) return s;
  append(literals);
  return Ok{};
}

// False if the opposite is assumed already.
bool Resolution::assume(Literal l) {
  if (true_in_[negation(l)] == derivation_) return false;
  true_in_[l] = derivation_;
  return true;
}

// Goes through the hints until one of them has no literal left that is not false.
Status Resolution::propagate(std::span<const uint32_t> hints) {
  for (uint32_t hint : hints) {
    if (hint >= size()) return refuse("hint {} is no earlier step", hint);
    Literal left = kNone;
    bool satisfied = false;
    for (Literal l : clause(hint)) {
      if (++visits_ > kMaxVisits)
        return Error{ErrorKind::budget, "the proof is too long to verify", {}, 0, 0};
      satisfied = satisfied || true_in_[l] == derivation_;
      if (satisfied || true_in_[negation(l)] == derivation_) continue;
      if (left != kNone) return refuse("hint {} is not a unit clause when its turn comes", hint);
      left = l;
    }
    if (satisfied) continue;  // says nothing new
    if (left == kNone) return Ok{};
    assume(left);
  }
  return refuse("the hints do not end in a contradiction");
}

}  // namespace assay::certify
