#include "oracle/commit_order.h"

#include <array>

namespace assay::oracle {
namespace {

// Transactions by their index, the virtual initial one last.
constexpr int kNodes = kMaxTxns + 1;

struct Relation {
  std::array<TxnSet, kNodes> after{};  // [a]: all b with a → b

  void add(int a, int b) { after[node(a)] |= TxnSet{1} << node(b); }
  bool has(int a, int b) const { return contains(after[node(a)], node(b)); }
  static int node(int t) { return t == kInitial ? kMaxTxns : t; }

  void close() {
    for (int via = 0; via < kNodes; ++via) {
      for (TxnSet& row : after) {
        if (contains(row, via)) row |= after[via];
      }
    }
  }
  bool cyclic() const {
    for (int n = 0; n < kNodes; ++n) {
      if (contains(after[n], n)) return true;
    }
    return false;
  }
};

class Axiom {
 public:
  Axiom(const History& h, const Footprints& small, Visibility visibility, TxnSet effective)
      : small_(small), visibility_(visibility), effective_(effective) {
    const int n = static_cast<int>(small.txns.size());
    for (int a = 0; a < n; ++a) {
      if (!contains(effective, a)) continue;
      session_.add(kInitial, a);
      for (int b = 0; b < n; ++b) {
        if (contains(effective, b) && session_before(h, small.txns[a], small.txns[b])) {
          session_.add(a, b);
        }
      }
    }
  }

  bool holds(const Attribution& attribution) const {
    Relation visible = session_;
    for (const ReadsFrom& read : attribution.reads) visible.add(read.writer, read.reader);
    Relation order = visible;
    for (const auto& [a, b] : attribution.write_order) order.add(a, b);
    if (visibility_ == Visibility::causal) visible.close();
    for (const ReadsFrom& read : attribution.reads) {
      if (visibility_ == Visibility::read_committed) {
        demand_after_reads(attribution, read, order);
      } else {
        demand_after_visible(visible, read, order);
      }
    }
    order.close();
    return !order.cyclic();
  }

 private:
  bool writes(int t, uint32_t key) const {
    return t == kInitial || small_.txns[t].install(key) != nullptr;
  }

  void demand_after_reads(const Attribution& attribution, const ReadsFrom& read,
                          Relation& order) const {
    for (const ReadsFrom& earlier : attribution.reads) {
      if (earlier.reader != read.reader || earlier.step >= read.step) continue;
      if (earlier.writer != read.writer && writes(earlier.writer, read.key)) {
        order.add(earlier.writer, read.writer);
      }
    }
  }

  void demand_after_visible(const Relation& visible, const ReadsFrom& read, Relation& order) const {
    for (int t = kInitial; t < static_cast<int>(small_.txns.size()); ++t) {
      if (t == read.writer || t == read.reader) continue;
      if (t != kInitial && !contains(effective_, t)) continue;
      if (visible.has(t, read.reader) && writes(t, read.key)) order.add(t, read.writer);
    }
  }

  const Footprints& small_;
  const Visibility visibility_;
  const TxnSet effective_;
  Relation session_;
};

}  // namespace

Outcome commit_order_exists(const History& h, const Footprints& small, Visibility visibility,
                            TxnSet effective) {
  const Axiom axiom(h, small, visibility, effective);
  const auto granularity =
      visibility == Visibility::read_committed ? Granularity::operation : Granularity::transaction;
  bool exhausted = false;
  const auto holds = [&](const Attribution& a) { return axiom.holds(a); };
  if (any_attribution(small, effective, granularity, holds, &exhausted)) return Outcome::satisfied;
  return exhausted ? Outcome::unknown : Outcome::violated;
}

}  // namespace assay::oracle
