// Clauses over what a history leaves open, and the one rule of inference: unit propagation.
//
//   1: A < B or C < D     2: B < A     3: D < C        from 2 and 3 every literal of 1 is false
//
// A derived clause is right if, assuming its negation and going through its hints, each hinted
// clause has one literal left that is not false, which must then be true, until one has none. Which
// of two transactions comes first is one variable: the two literals of a pair negate each other.
// Whether a read saw what some transaction left, and whether a transaction took effect, are
// variables, too.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "assay/certificate.h"
#include "assay/result.h"

namespace assay::internal::certify {

class Resolution {
 public:
  // Adds the clause of a cycle: not all of these hold.
  void add_refuted(std::span<const Literal> together);
  // Adds a clause that the history states.
  void add_stated(std::span<const Literal> clause);
  Status add_derived(std::span<const Literal> clause, std::span<const uint32_t> hints);

  // Whether the last clause is empty: then there is a contradiction.
  bool contradiction() const { return size() > 0 && clause(size() - 1).empty(); }

 private:
  using Code = uint32_t;  // of a literal: 2 * variable + sign
  static constexpr uint64_t kMaxVisits = uint64_t{1} << 34;

  Code code(Literal literal);
  static Code negation(Code c) { return c ^ 1; }
  void append(std::vector<Code>& codes);
  size_t size() const { return begin_.size() - 1; }
  std::span<const Code> clause(size_t i) const {
    return {literals_.data() + begin_[i], literals_.data() + begin_[i + 1]};
  }

  bool assume(Code c);
  Status propagate(std::span<const uint32_t> hints);

  struct Hash {
    size_t operator()(const Literal& l) const {
      const uint64_t ends = uint64_t{l.from} << 32 | l.to;
      return (ends ^
              (uint64_t{l.key} + static_cast<uint64_t>(l.kind) + (uint64_t{l.element} << 32)) *
                  0x9E3779B97F4A7C15u) *
             0xBF58476D1CE4E5B9u;
    }
  };
  std::unordered_map<Literal, uint32_t, Hash>
      variable_;  // by the representative of two opposite literals
  std::vector<Code> literals_;
  std::vector<size_t> begin_ = {0};  // indexed by clause
  std::vector<uint32_t> true_in_;    // indexed by literal: the derivation in which it is assumed,
                                     // from 1
  uint32_t derivation_ = 0;
  uint64_t visits_ = 0;
};

}  // namespace assay::internal::certify
