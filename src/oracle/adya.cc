#include "oracle/adya.h"

#include <algorithm>
#include <array>
#include <vector>

namespace assay::oracle {
namespace {

// Combinations of version orders, and of these with ways to attribute the reads.
constexpr uint64_t kMaxChoices = 800;
constexpr uint64_t kMaxTried = 4000;

// [a]: all b with an edge a → b
struct Edges {
  std::array<TxnSet, kMaxTxns> to{};

  void add(int a, int b) {
    if (a != b) to[a] |= TxnSet{1} << b;
  }
  Edges with(const Edges& more) const {
    Edges sum = *this;
    for (int t = 0; t < kMaxTxns; ++t) sum.to[t] |= more.to[t];
    return sum;
  }
  Edges closed() const {
    Edges all = *this;
    for (int via = 0; via < kMaxTxns; ++via) {
      if (all.to[via] == 0) continue;
      for (TxnSet& row : all.to)
        if (contains(row, via)) row |= all.to[via];
    }
    return all;
  }
  bool cyclic() const {
    const Edges all = closed();
    for (int t = 0; t < kMaxTxns; ++t)
      if (contains(all.to[t], t)) return true;
    return false;
  }
  // An edge a → b of this, and a path from b to a.
  bool closed_by(const Edges& paths) const {
    const Edges all = paths.closed();
    for (int a = 0; a < kMaxTxns; ++a)
      for (int b = 0; b < kMaxTxns; ++b)
        if (contains(to[a], b) && contains(all.to[b], a)) return true;
    return false;
  }
};

struct Dependencies {
  Edges write, read, item_anti, predicate_anti;
  bool lost_update = false;
};

bool allowed(LevelId level, const Dependencies& d) {
  if (level == LevelId::pl_1) return !d.write.cyclic();
  const Edges flow = d.write.with(d.read);
  if (flow.cyclic()) return false;
  const Edges anti = d.item_anti.with(d.predicate_anti);
  switch (level) {
    case LevelId::pl_cs:
      return !d.lost_update;
    case LevelId::pl_2_plus:
      return !anti.closed_by(flow);
    case LevelId::pl_2_99:
      return !d.item_anti.closed_by(flow.with(anti));
    case LevelId::pl_3:
      return !flow.with(anti).cyclic();
    default:
      return true;
  }
}

class VersionOrders {
 public:
  VersionOrders(const History& h, const Footprints& small, TxnSet effective)
      : h_(h), small_(small), writers_(small.keys.size()) {
    for (int t = 0; t < static_cast<int>(small.txns.size()); ++t) {
      if (!contains(effective, t)) continue;
      for (const Install& put : small.txns[t].installs) writers_[put.key].push_back(t);
    }
  }

  bool too_many() const {
    uint64_t choices = 1;
    for (const auto& list : writers_)
      for (size_t i = 2; i <= list.size() && choices <= kMaxChoices; ++i) choices *= i;
    return choices > kMaxChoices;
  }

  bool exhausted() const { return tried_ > kMaxTried; }

  bool some(LevelId level, const Attribution& attribution) {
    for (auto& list : writers_) std::sort(list.begin(), list.end());
    for (bool more = true; more;) {
      if (++tried_ > kMaxTried) return false;
      if (agrees(attribution) && allowed(level, dependencies(attribution))) return true;
      more = false;
      for (auto& list : writers_) {
        more = std::next_permutation(list.begin(), list.end());
        if (more) break;
      }
    }
    return false;
  }

 private:
  // The initial version is before all others without being said.
  bool agrees(const Attribution& attribution) const {
    for (const auto& [a, b] : attribution.write_order) {
      for (const auto& list : writers_) {
        const auto at_a = std::find(list.begin(), list.end(), a);
        const auto at_b = std::find(list.begin(), list.end(), b);
        if (at_a != list.end() && at_b != list.end() && at_b < at_a) return false;
      }
    }
    return true;
  }

  bool is_item(const ReadsFrom& read) const {
    const OpId op = h_.first_op(small_.txns[read.reader].txn) + read.step;
    if (h_.op(op).kind != OpKind::range) return true;
    for (const VersionId row : h_.operands(op).subspan(2))
      if (h_.version_key(row) == small_.keys[read.key].outside) return true;
    return false;
  }

  Dependencies dependencies(const Attribution& attribution) const {
    Dependencies d;
    for (const auto& list : writers_)
      for (size_t i = 1; i < list.size(); ++i) d.write.add(list[i - 1], list[i]);
    for (const ReadsFrom& read : attribution.reads) {
      if (read.writer != kInitial) d.read.add(read.writer, read.reader);
      const auto& list = writers_[read.key];
      auto next = std::find(list.begin(), list.end(), read.writer);
      next = next == list.end() ? list.begin() : next + 1;
      if (next == list.end()) continue;
      const bool item = is_item(read);
      (item ? d.item_anti : d.predicate_anti).add(read.reader, *next);
      if (item && *next != read.reader && std::find(next, list.end(), read.reader) != list.end())
        d.lost_update = true;
    }
    return d;
  }

  const History& h_;
  const Footprints& small_;
  std::vector<std::vector<int>> writers_;  // per key, in version order
  uint64_t tried_ = 0;
};

// pl-1 alone lets transactions read what was aborted or overwritten: such reads are left out, for no version that
// counts is behind them.
bool dirty(const History& h, TxnId reader, OpId i) {
  const Operation op = h.op(i);
  const bool reads = op.kind == OpKind::read || (op.kind == OpKind::cas && op.effect);
  if (!reads) return false;
  const VersionId seen = op.kind == OpKind::read ? op.version : h.operands(i)[0];
  for (OpId w = 0; w < h.op_count(); ++w)
    if (installs_version(h.op(w)) && h.op(w).version == seen) return h.txn_of(w) != reader;
  return false;
}

Footprints without_dirty_reads(const History& h, Footprints small) {
  for (Footprint& t : small.txns) {
    std::erase_if(t.observations, [&](const Observation& o) {
      return o.need.accept == 0 && dirty(h, t.txn, h.first_op(t.txn) + o.step);
    });
  }
  return small;
}

}  // namespace

Outcome version_order_exists(const History& h, const Footprints& small, LevelId level,
                             TxnSet effective) {
  const Footprints seen = level == LevelId::pl_1 ? without_dirty_reads(h, small) : small;
  VersionOrders orders(h, seen, effective);
  if (orders.too_many()) return Outcome::unknown;
  bool exhausted = false;
  const auto holds = [&](const Attribution& a) { return orders.some(level, a); };
  if (any_attribution(seen, effective, Granularity::operation, holds, &exhausted))
    return Outcome::satisfied;
  return exhausted || orders.exhausted() ? Outcome::unknown : Outcome::violated;
}

}  // namespace assay::oracle
