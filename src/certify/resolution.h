// Clauses over the order of pairs of transactions, and the one rule of inference: unit propagation.
//
//   1: A < B or C < D     2: B < A     3: D < C        from 2 and 3 every literal of 1 is false
//
// A derived clause is right if, assuming its negation and going through its hints, each hinted
// clause has one literal left that is not false, which must then be true, until one has none. Which
// of two transactions comes first is one variable: the two literals of a pair negate each other.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "assay/certificate.h"
#include "assay/result.h"

namespace assay::certify {

class Resolution {
 public:
  // The clause of a cycle: not all of these hold.
  void add_refuted(std::span<const Before> together);
  // A literal that the history states.
  void add_fact(const Before& fact);
  Status add_derived(std::span<const Before> clause, std::span<const uint32_t> hints);

  // The last clause is empty: there is a contradiction.
  bool contradiction() const { return size() > 0 && clause(size() - 1).empty(); }

 private:
  using Literal = uint32_t;  // 2 * variable + sign
  static constexpr uint64_t kMaxVisits = uint64_t{1} << 34;

  Literal literal(const Before& b);
  static Literal negation(Literal l) { return l ^ 1; }
  void append(std::vector<Literal>& literals);
  size_t size() const { return begin_.size() - 1; }
  std::span<const Literal> clause(size_t i) const {
    return {literals_.data() + begin_[i], literals_.data() + begin_[i + 1]};
  }

  bool assume(Literal l);
  Status propagate(std::span<const uint32_t> hints);

  std::unordered_map<uint64_t, uint32_t> variable_;  // of the pair (smaller, larger)
  std::vector<Literal> literals_;
  std::vector<size_t> begin_ = {0};  // per clause
  std::vector<uint32_t> true_in_;    // per literal: the derivation in which it is assumed, from 1
  uint32_t derivation_ = 0;
  uint64_t visits_ = 0;
};

}  // namespace assay::certify
