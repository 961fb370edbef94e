#include "oracle/commit_order.h"

#include <array>

namespace assay::internal::oracle {
namespace {

// Transactions are numbered by their index; the virtual initial one is last.
constexpr int kNodes = kMaxTxns + 1;

struct Relation {
  std::array<TxnSet, kNodes> after{};  // [a]: all b with a → b

  void add(int a, int b) { after[node(a)] |= TxnSet{1} << node(b); }
  bool has(int a, int b) const { return contains(after[node(a)], node(b)); }
  static int node(int t) { return t == kInitial ? kMaxTxns : t; }

  // Returns all pairs with a transaction in between: a → via in this, via → b in `next`.
  Relation then(const Relation& next) const {
    Relation both;
    for (int a = 0; a < kNodes; ++a)
      for (int via = 0; via < kNodes; ++via)
        if (contains(after[a], via)) both.after[a] |= next.after[via];
    return both;
  }
  Relation or_also(const Relation& more) const {
    Relation either = *this;
    for (int a = 0; a < kNodes; ++a) either.after[a] |= more.after[a];
    return either;
  }
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
      : small_(small),
        row_(h.level(LevelId::defined)),
        visibility_(visibility),
        effective_(effective) {
    const bool sessions = visibility == Visibility::defined
                              ? row_.session_order
                              : visibility != Visibility::monotonic_atomic_view;
    const int n = static_cast<int>(small.txns.size());
    for (int a = 0; a < n; ++a) {
      if (!contains(effective, a)) continue;
      session_.add(kInitial, a);
      for (int b = 0; b < n; ++b) {
        if (sessions && contains(effective, b) && session_before(h, small.txns[a], small.txns[b])) {
          session_.add(a, b);
        }
      }
    }
  }

  bool holds(const Attribution& attribution) const {
    Relation reads;
    for (const ReadsFrom& read : attribution.reads) reads.add(read.writer, read.reader);
    Relation order = session_.or_also(reads);
    for (const auto& [a, b] : attribution.write_order) order.add(a, b);
    const Relation visible = seen(reads);
    for (const ReadsFrom& read : attribution.reads) {
      if (visibility_ == Visibility::read_committed ||
          visibility_ == Visibility::monotonic_atomic_view ||
          (visibility_ == Visibility::defined && row_.seen.earlier_reads)) {
        demand_after_reads(attribution, read, order);
      } else {
        demand_after_visible(visible, read, order);
      }
    }
    order.close();
    return !order.cyclic();
  }

 private:
  // Returns which transactions see which; not used at levels at which that depends on the read.
  Relation seen(const Relation& reads) const {
    switch (visibility_) {
      case Visibility::read_your_writes:
        return session_;
      case Visibility::monotonic_reads:
        return reads.then(session_);
      case Visibility::monotonic_writes:
        return session_.then(reads);
      case Visibility::writes_follow_reads:
        return reads.then(reads).or_also(reads.then(session_).then(reads));
      case Visibility::monotonic_atomic_view:
      case Visibility::read_committed:
      case Visibility::read_atomic:
        return session_.or_also(reads);
      case Visibility::defined:
        return seen_by_words(reads);
      case Visibility::causal:
        break;
    }
    Relation all = session_.or_also(reads);
    all.close();
    return all;
  }

  Relation seen_by_words(const Relation& reads) const {
    Relation all;
    for (const std::string_view word : row_.seen.words) {
      Relation path;
      for (size_t i = 0; i < word.size(); ++i) {
        const Relation& step = word[i] == 's' ? session_ : reads;
        path = i == 0 ? step : path.then(step);
      }
      all = all.or_also(path);
    }
    if (row_.seen.repeated) all.close();
    return all;
  }

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
  const LevelInfo& row_;  // for Visibility::defined
  const Visibility visibility_;
  const TxnSet effective_;
  Relation session_;  // with the initial transaction first; no session order if the level has none
};

}  // namespace

Outcome commit_order_exists(const History& h, const Footprints& small, Visibility visibility,
                            TxnSet effective) {
  const Axiom axiom(h, small, visibility, effective);
  const bool one_state =
      visibility == Visibility::defined
          ? h.level(LevelId::defined).repeatable
          : visibility == Visibility::read_atomic || visibility == Visibility::causal;
  const auto granularity = one_state ? Granularity::transaction : Granularity::operation;
  bool exhausted = false;
  const auto holds = [&](const Attribution& a) { return axiom.holds(a); };
  if (any_attribution(small, effective, granularity, holds, &exhausted)) return Outcome::satisfied;
  return exhausted ? Outcome::unknown : Outcome::violated;
}

}  // namespace assay::internal::oracle
