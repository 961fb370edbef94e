// PolySI (PVLDB 2023) has one constraint for every two transactions that write a common key: one of
// them comes first, which implies, for each key they share, the write dependency and the
// anti-dependencies of the transactions that read the overwritten version.
//
//   T1: { w(x,1) w(y,1) }  T2: { w(x,2) w(y,2) }  T3: { r(x,1) }
//   one constraint; five dependencies: T1 → T2 by x and by y and T3 → T2 by x, or T2 → T1 by x and
//   by y
//
// The initial state is a transaction, too. Its constraints are decided from the start; they are
// counted because PolySI counts them.
//
// These pairs are counted for comparison only, never searched: on a hot key their number is the
// square of that of its writers. Cost: that square, so above kMostCounted nothing is counted.

#include "infer/constraints.h"

#include <algorithm>
#include <vector>

namespace assay::internal {
namespace {

constexpr uint64_t kMostCounted = 50'000'000;

class ConstraintCounter {
 public:
  ConstraintCounter(const Problem& problem, const std::function<bool(Node, Node)>& open)
      : problem_(problem), open_(open), seen_(problem.nodes(), kNone), place_(problem.nodes(), 0) {}

  bool affordable() const {
    uint64_t pairs = 0;
    for (KeyId key = 0; key < problem_.keys(); ++key) {
      const uint64_t writers = problem_.key_writers(key).size();
      pairs += writers * (writers - 1) / 2;
    }
    return pairs <= kMostCounted;
  }

  void count_pairs() {
    for (Node a = 0; a < problem_.nodes(); ++a) {
      others_.clear();
      for (const WriteId w : problem_.writes.of(a)) {
        for (WriteId other : problem_.key_writers(problem_.writes.key[w])) {
          if (problem_.writes.node[other] > a) add(w, other);
        }
      }
      for (const Other& other : others_) {
        if (!open_(a, other.node)) continue;
        ++count_.constraints;
        count_.dependencies += other.dependencies;
      }
    }
  }

  void count_initial(InitialWrites initial) {
    for (Node n = 0; n < problem_.nodes(); ++n) {
      uint64_t dependencies = 0;
      for (const WriteId w : problem_.writes.of(n)) {
        const auto readers = problem_.initial_readers[problem_.writes.key[w]];
        if (initial == InitialWrites::keys_read_initially && readers.empty()) continue;
        const auto own = std::count(readers.begin(), readers.end(), n);
        dependencies += 2 + readers.size() - static_cast<size_t>(own) + problem_.readers[w].size();
      }
      count_.constraints += dependencies != 0;
      count_.dependencies += dependencies;
    }
  }

  ConstraintCount result() const { return count_; }

 private:
  struct Other {
    Node node;
    uint64_t dependencies;
  };

  // A key that two transactions share.
  void add(WriteId a, WriteId b) {
    const Node other = problem_.writes.node[b];
    if (seen_[other] != problem_.writes.node[a]) {
      seen_[other] = problem_.writes.node[a];
      place_[other] = static_cast<uint32_t>(others_.size());
      others_.push_back({other, 0});
    }
    others_[place_[other]].dependencies += 2 + overtaken(a, b) + overtaken(b, a);
  }

  // Counts the readers of `version` that come before the writer of `next`.
  uint64_t overtaken(WriteId version, WriteId next) const {
    const auto readers = problem_.readers[version];
    const auto own = std::count(readers.begin(), readers.end(), problem_.writes.node[next]);
    return readers.size() - static_cast<size_t>(own);
  }

  const Problem& problem_;
  const std::function<bool(Node, Node)>& open_;
  std::vector<Node> seen_;       // indexed by node: the last one that was found to share a key with
                                 // it
  std::vector<uint32_t> place_;  // indexed by node: its place in others_
  std::vector<Other> others_;    // for one node
  ConstraintCount count_;
};

}  // namespace

std::optional<ConstraintCount> count_constraints(const Problem& problem, InitialWrites initial,
                                                 const std::function<bool(Node, Node)>& open) {
  ConstraintCounter counter(problem, open);
  if (!counter.affordable()) return std::nullopt;
  counter.count_pairs();
  if (initial != InitialWrites::none) counter.count_initial(initial);
  return counter.result();
}

}  // namespace assay::internal
