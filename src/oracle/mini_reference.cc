#include "oracle/mini_reference.h"

#include <array>

#include "history/mini_transactions.h"
#include "oracle/reads_from.h"

namespace assay::internal::oracle {
namespace {

constexpr int kMiniNodes =
    kMaxTxns + 1;  // the last is the transaction that wrote the initial state

struct MiniEdges {
  std::array<TxnSet, kMiniNodes> to{};

  static int node(int t) { return t == kInitial ? kMaxTxns : t; }
  void add(int a, int b) { to[node(a)] |= TxnSet{1} << node(b); }
  bool has(int a, int b) const { return contains(to[node(a)], node(b)); }
  void add(const MiniEdges& more) {
    for (int n = 0; n < kMiniNodes; ++n) to[n] |= more.to[n];
  }
  void close() {
    for (int via = 0; via < kMiniNodes; ++via)
      for (TxnSet& row : to)
        if (contains(row, via)) row |= to[via];
  }
  bool cyclic() const {
    MiniEdges all = *this;
    all.close();
    for (int n = 0; n < kMiniNodes; ++n)
      if (contains(all.to[n], n)) return true;
    return false;
  }
  // Returns these edges, and these followed by one of `next`.
  MiniEdges perhaps_then(const MiniEdges& next) const {
    MiniEdges all = *this;
    for (int n = 0; n < kMiniNodes; ++n)
      for (int via = 0; via < kMiniNodes; ++via)
        if (contains(to[n], via)) all.to[n] |= next.to[via];
    return all;
  }
};

class Mtc {
 public:
  Mtc(const History& h, const Footprints& small, LevelId level)
      : h_(h), small_(small), count_(static_cast<int>(small.txns.size())), level_(level) {}

  bool holds(const Attribution& attribution) const {
    if (level_ == LevelId::session_si && diverges(attribution)) return false;
    MiniEdges dependencies = sessions_and_times();
    MiniEdges anti;
    for (const ReadsFrom& read : attribution.reads) dependencies.add(read.writer, read.reader);
    for (uint32_t key = 0; key < small_.keys.size(); ++key) {
      const MiniEdges chain = version_order(attribution, key);
      dependencies.add(chain);
      for (const ReadsFrom& read : attribution.reads)
        for (int t = 0; t < count_ && read.key == key; ++t)
          if (t != read.reader && chain.has(read.writer, t)) anti.add(read.reader, t);
    }
    if (level_ == LevelId::session_si) return !dependencies.perhaps_then(anti).cyclic();
    dependencies.add(anti);
    return !dependencies.cyclic();
  }

 private:
  bool updates(const ReadsFrom& read) const {
    return small_.txns[read.reader].install(read.key) != nullptr;
  }

  bool diverges(const Attribution& attribution) const {
    for (const ReadsFrom& a : attribution.reads)
      for (const ReadsFrom& b : attribution.reads)
        if (a.reader != b.reader && a.key == b.key && a.writer == b.writer && updates(a) &&
            updates(b))
          return true;
    return false;
  }

  MiniEdges sessions_and_times() const {
    MiniEdges edges;
    for (int a = 0; a < count_; ++a) {
      edges.add(kInitial, a);
      for (int b = 0; b < count_; ++b) {
        const Footprint &from = small_.txns[a], &to = small_.txns[b];
        const bool time = level_ == LevelId::strict_serializable;
        if (session_before(h_, from, to) || (time && time_before(h_, from, true, to, false)))
          edges.add(a, b);
      }
    }
    return edges;
  }

  MiniEdges version_order(const Attribution& attribution, uint32_t key) const {
    MiniEdges chain;
    for (const ReadsFrom& read : attribution.reads)
      if (read.key == key && updates(read)) chain.add(read.writer, read.reader);
    chain.close();
    return chain;
  }

  const History& h_;
  const Footprints& small_;
  const int count_;
  const LevelId level_;
};

bool all_mini(const History& h) {
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    if (h.status(t) == TxnStatus::unknown) return false;
    if (h.status(t) == TxnStatus::committed && mini_shape(h, t).empty()) return false;
  }
  return true;
}

}  // namespace

Outcome by_mini_transactions(const History& history, LevelId level) {
  const bool timed = level == LevelId::strict_serializable;
  const bool known =
      timed || level == LevelId::session_si || level == LevelId::session_serializable;
  const auto small = footprints(history, ReadsOf::committed, nullptr);
  if (!known || !small || !all_mini(history) || (timed && !has_times(history, *small)))
    return Outcome::unknown;
  const TxnSet all = (TxnSet{1} << small->txns.size()) - 1;
  const Mtc mtc(history, *small, level);
  bool exhausted = false;
  const auto holds = [&](const Attribution& a) { return mtc.holds(a); };
  if (any_attribution(*small, all, Granularity::transaction, holds, &exhausted))
    return Outcome::satisfied;
  return exhausted ? Outcome::unknown : Outcome::violated;
}

}  // namespace assay::internal::oracle
