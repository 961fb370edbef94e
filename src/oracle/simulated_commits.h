// The committed state of a tiny simulated database, and the parts of it that transactions see.
#pragma once

#include <algorithm>
#include <bitset>
#include <cassert>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "oracle/random_draft.h"

namespace assay::internal {

// The commits by number, at most kMost of them.
class SimulatedCommits {
 public:
  static constexpr size_t kMost = 4096;
  using Set = std::bitset<kMost>;

  static Set lowest(size_t count) { return count == 0 ? Set() : ~Set() >> (kMost - count); }
  size_t size() const { return commits_.size(); }
  Set all() const { return lowest(size()); }
  // Returns a set in which each commit is as likely as not.
  Set some(Rng& rng) const {
    Set set;
    for (size_t from = 0; from == 0 || from < size(); from += 64) set |= Set(rng.next()) << from;
    return set & all();
  }
  // Returns what a transaction of the isolation level sees when it begins; `past`: what its session
  // depends on.
  Set view(RandomShape::Isolation isolation, const Set& past, Rng& rng) const {
    switch (isolation) {
      case RandomShape::Isolation::stale_snapshot: {
        Set view = lowest(size() - std::min<uint64_t>(size(), rng.below(3)));
        while (rng.chance(0.8) && (past & ~view).any()) view = view << 1 | lowest(1);
        return view & all();
      }
      case RandomShape::Isolation::causal: {
        Set view = past;
        for (size_t c = 0; c < size(); ++c)
          if (rng.chance(0.4)) view |= (commits_[c].dependencies | lowest(1) << c);
        return view;
      }
      case RandomShape::Isolation::arbitrary_set: {
        const Set view = some(rng);
        return view | (rng.chance(0.8) ? past : Set());
      }
      default:
        return all();
    }
  }

  // Adds what a transaction that depends on these has written, and updates what its session depends
  // on from then on.
  void add(const Set& dependencies, std::span<const DraftOp> ops, Set& past) {
    Commit& done = commits_.emplace_back(Commit{dependencies, {}});
    assert(size() <= kMost);
    std::ranges::copy_if(ops, std::back_inserter(done.writes), writes);
    past |= dependencies | lowest(1) << (size() - 1);
  }

  // Returns the value of a key in this view of commits, given the transaction's own operations: the
  // last write, or the `initial` value if there is none before.
  DraftValue value(const Set& view, std::span<const DraftOp> own, int key,
                   DraftValue initial) const {
    each_write(view, own, key, [&](const DraftOp& op) {
      if (op.kind != OpKind::append) initial = op.kind == OpKind::remove ? DraftValue() : op.value;
    });
    return initial;
  }
  std::vector<int64_t> list(const Set& view, std::span<const DraftOp> own, int key) const {
    std::vector<int64_t> elements;
    each_write(view, own, key, [&](const DraftOp& op) {
      if (op.kind == OpKind::append) elements.push_back(*op.value);
    });
    return elements;
  }
  // Whether a key that these operations write was written by a commit that is not seen.
  bool conflict(const Set& view, std::span<const DraftOp> ops) const {
    for (size_t c = 0; c < size(); ++c)
      for (const DraftOp& theirs : commits_[c].writes)
        if (!view[c] && std::ranges::any_of(ops, [&](const DraftOp& ours) {
              return writes(ours) && ours.key == theirs.key;
            }))
          return true;
    return false;
  }

 private:
  struct Commit {
    Set dependencies;
    std::vector<DraftOp> writes;
  };

  static bool writes(const DraftOp& op) { return changes_data(op.kind) && op.effect; }

  template <class Visit>
  void each_write(const Set& view, std::span<const DraftOp> own, int key, Visit visit) const {
    const auto visit_all = [&](std::span<const DraftOp> ops) {
      for (const DraftOp& op : ops)
        if (op.key == key && writes(op)) visit(op);
    };
    for (size_t c = 0; c < size(); ++c)
      if (view[c]) visit_all(commits_[c].writes);
    visit_all(own);
  }

  std::vector<Commit> commits_;
};

}  // namespace assay::internal
