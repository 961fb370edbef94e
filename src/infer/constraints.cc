// PolySI (PVLDB 2023) has one constraint for every two transactions that write a common key: one of them comes
// first, and then so do, for each key they share, the write dependency and the anti-dependencies of those that
// read the overwritten version.
//
//   T1: { w(x,1) w(y,1) }  T2: { w(x,2) w(y,2) }  T3: { r(x,1) }
//   one constraint; five dependencies: T1 → T2 by x and by y and T3 → T2 by x, or T2 → T1 by x and by y
//
// The initial state is a transaction too. Its constraints are decided from the start; they are counted because
// PolySI counts them.
//
// These pairs are counted for comparison only, never searched: on a hot key their number is the square of that of its
// writers. Cost: that square, so above kMostPairs nothing is counted.

#include "infer/constraints.h"

#include <algorithm>
#include <vector>

namespace assay::internal {
namespace {

constexpr uint64_t kMostPairs = 50'000'000;

class ConstraintCounter {
 public:
  ConstraintCounter(const ReadsFrom& rf, const std::function<bool(Node, Node)>& open)
      : rf_(rf), open_(open), seen_(rf.nodes(), kNone), place_(rf.nodes(), 0) {}

  bool affordable() const {
    uint64_t pairs = 0;
    for (KeyId key = 0; key < rf_.writers.rows(); ++key) {
      const uint64_t writers = rf_.key_writers(key).size();
      pairs += writers * (writers - 1) / 2;
    }
    return pairs <= kMostPairs;
  }

  void count_pairs() {
    for (Node a = 0; a < rf_.nodes(); ++a) {
      others_.clear();
      for (WriteId w = rf_.write_begin[a]; w < rf_.write_begin[a + 1]; ++w) {
        for (WriteId other : rf_.key_writers(rf_.write_key[w])) {
          if (rf_.write_node[other] > a) add(w, other);
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
    for (Node n = 0; n < rf_.nodes(); ++n) {
      uint64_t dependencies = 0;
      for (WriteId w = rf_.write_begin[n]; w < rf_.write_begin[n + 1]; ++w) {
        const auto readers = rf_.initial_readers[rf_.write_key[w]];
        if (initial == InitialWrites::keys_read_initially && readers.empty()) continue;
        const auto own = std::count(readers.begin(), readers.end(), n);
        dependencies += 2 + readers.size() - static_cast<size_t>(own) + rf_.readers[w].size();
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
    const Node other = rf_.write_node[b];
    if (seen_[other] != rf_.write_node[a]) {
      seen_[other] = rf_.write_node[a];
      place_[other] = static_cast<uint32_t>(others_.size());
      others_.push_back({other, 0});
    }
    others_[place_[other]].dependencies += 2 + overtaken(a, b) + overtaken(b, a);
  }

  // Readers of `version` that come before the writer of `next`.
  uint64_t overtaken(WriteId version, WriteId next) const {
    const auto readers = rf_.readers[version];
    const auto own = std::count(readers.begin(), readers.end(), rf_.write_node[next]);
    return readers.size() - static_cast<size_t>(own);
  }

  const ReadsFrom& rf_;
  const std::function<bool(Node, Node)>& open_;
  std::vector<Node> seen_;       // per node: the last one it was found to share a key with
  std::vector<uint32_t> place_;  // per node: in others_
  std::vector<Other> others_;    // of one node
  ConstraintCount count_;
};

}  // namespace

std::optional<ConstraintCount> count_constraints(const ReadsFrom& rf, InitialWrites initial,
                                                 const std::function<bool(Node, Node)>& open) {
  ConstraintCounter counter(rf, open);
  if (!counter.affordable()) return std::nullopt;
  counter.count_pairs();
  if (initial != InitialWrites::none) counter.count_initial(initial);
  return counter.result();
}

}  // namespace assay::internal
