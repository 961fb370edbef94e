#include "oracle/second_opinion.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "oracle/reads_from.h"
#include "oracle/version_sets.h"

namespace assay::internal::oracle {
namespace {

constexpr size_t kMaxOrdered = 7;      // transactions whose orders by_axioms tries
constexpr uint64_t kMaxOrders = 5000;  // combinations of version orders

std::vector<int> members(TxnSet set) {
  std::vector<int> list;
  for (; set != 0; set &= set - 1) list.push_back(std::countr_zero(set));
  return list;
}

// Runs `holds` on every subset of the unknown transactions and every attribution of the reads.
template <class Holds>
Outcome some_reading(const Footprints& small, Granularity granularity, const Holds& holds) {
  TxnSet certain = 0, unknown = 0;
  for (size_t t = 0; t < small.txns.size(); ++t) {
    (small.txns[t].takes_effect() ? certain : unknown) |= TxnSet{1} << t;
  }
  bool exhausted = false;
  TxnSet guess = 0;
  do {
    const TxnSet effective = certain | guess;
    const auto accept = [&](const Attribution& a) { return holds(effective, a, &exhausted); };
    if (any_attribution(small, effective, granularity, accept, &exhausted)) {
      return Outcome::satisfied;
    }
    guess = (guess - unknown) & unknown;
  } while (guess != 0);
  return exhausted ? Outcome::unknown : Outcome::violated;
}

// The graph of events under one choice of version orders.
class EventGraph {
 public:
  EventGraph(const History& h, const Footprints& small, const LevelInfo& level)
      : h_(h), small_(small), level_(level) {}

  bool some_version_order(TxnSet effective, const Attribution& attribution, bool* exhausted) {
    effective_ = members(effective);
    std::vector<std::vector<int>> writers;  // per key, in version order
    uint64_t choices = 1;
    for (uint32_t k = 0; k < small_.keys.size(); ++k) {
      std::vector<int>& list = writers.emplace_back();
      for (const int t : effective_) {
        if (small_.txns[t].install(k) == nullptr) continue;
        list.push_back(t);
        choices *= list.size();
      }
    }
    if (choices > kMaxOrders) {
      *exhausted = true;
      return false;
    }
    for (bool more = true; more;) {
      if (acyclic(writers, attribution)) return true;
      more = false;
      for (auto& list : writers) {
        more = std::next_permutation(list.begin(), list.end());
        if (more) break;
      }
    }
    return false;
  }

 private:
  using Row = uint64_t;

  void add(int from, int to) {
    if (from != to) after_[from] |= Row{1} << to;
  }
  // The events of a transaction; both are the same if the level has one event per transaction.
  int r(int t) const { return level_.events == EventModel::single ? 2 * t + 1 : 2 * t; }
  int w(int t) const { return 2 * t + 1; }

  bool acyclic(const std::vector<std::vector<int>>& writers, const Attribution& attribution) {
    after_.assign(2 * small_.txns.size(), 0);
    for (const auto& [a, b] : attribution.write_order) {
      for (const auto& list : writers) {
        const auto at_a = std::find(list.begin(), list.end(), a);
        const auto at_b = std::find(list.begin(), list.end(), b);
        if (at_a != list.end() && at_b != list.end() && at_b < at_a) return false;
      }
      if (a != kInitial) add(w(a), w(b));
    }
    add_precedence();
    for (const auto& list : writers) {
      for (size_t i = 0; i < list.size(); ++i) {
        for (size_t j = i + 1; j < list.size(); ++j) {
          add(w(list[i]), level_.write_conflict ? r(list[j]) : w(list[j]));
        }
      }
    }
    for (const ReadsFrom& read : attribution.reads) {
      if (read.writer != kInitial) add(w(read.writer), r(read.reader));
      const auto& list = writers[read.key];
      auto later = std::find(list.begin(), list.end(), read.writer);
      later = later == list.end() ? list.begin() : later + 1;
      for (; later != list.end(); ++later) {
        if (*later != read.reader) add(r(read.reader), w(*later));
      }
    }
    return !cyclic();
  }

  void add_precedence() {
    for (const int a : effective_) {
      add(r(a), w(a));
      for (const int b : effective_) {
        if (a == b) continue;
        const Footprint& from = small_.txns[a];
        const Footprint& to = small_.txns[b];
        if (level_.session_order && session_before(h_, from, to)) add(w(a), r(b));
        const auto before = [&](bool a_commit, bool b_commit) {
          return time_before(h_, from, a_commit, to, b_commit);
        };
        switch (level_.real_time) {
          case RealTime::none:
            break;
          case RealTime::transactions:
            if (before(true, false)) add(w(a), r(b));
            break;
          case RealTime::all_but_begins:
            if (before(true, false)) add(w(a), r(b));
            [[fallthrough]];
          case RealTime::into_commits:
            if (before(true, true)) add(w(a), w(b));
            if (before(false, true)) add(r(a), w(b));
            break;
        }
      }
    }
  }

  bool cyclic() {
    for (size_t via = 0; via < after_.size(); ++via) {
      for (Row& row : after_) {
        if (row >> via & 1u) row |= after_[via];
      }
    }
    for (size_t e = 0; e < after_.size(); ++e) {
      if (after_[e] >> e & 1u) return true;
    }
    return false;
  }

  const History& h_;
  const Footprints& small_;
  const LevelInfo& level_;
  std::vector<int> effective_;
  std::vector<Row> after_;
};

// What a transaction sees, for the levels that Biswas and Enea's paper defines so and for the
// session guarantees.
enum class WeakAxiom : uint8_t {
  read_your_writes,
  monotonic_reads,
  monotonic_writes,
  writes_follow_reads,
  monotonic_atomic_view,
  read_committed,
  read_atomic,
  causal,
  prefix,
  snapshot,
  serializable,
};

// There is no default, so the compiler reports a forgotten level.
std::optional<WeakAxiom> axiom_of(LevelId level) {
  switch (level) {
    case LevelId::read_your_writes:
      return WeakAxiom::read_your_writes;
    case LevelId::monotonic_reads:
      return WeakAxiom::monotonic_reads;
    case LevelId::monotonic_writes:
      return WeakAxiom::monotonic_writes;
    case LevelId::writes_follow_reads:
      return WeakAxiom::writes_follow_reads;
    case LevelId::monotonic_atomic_view:
      return WeakAxiom::monotonic_atomic_view;
    case LevelId::read_committed:
      return WeakAxiom::read_committed;
    case LevelId::read_atomic:
      return WeakAxiom::read_atomic;
    case LevelId::causal:
      return WeakAxiom::causal;
    case LevelId::prefix:
      return WeakAxiom::prefix;
    case LevelId::session_si:
      return WeakAxiom::snapshot;
    case LevelId::session_serializable:
      return WeakAxiom::serializable;
    case LevelId::statement_snapshot:
    case LevelId::pl_1:
    case LevelId::pl_2:
    case LevelId::pl_cs:
    case LevelId::pl_2_plus:
    case LevelId::pl_2_99:
    case LevelId::pl_3:
    case LevelId::adya_si:
    case LevelId::generalized_si:
    case LevelId::strong_session_si:
    case LevelId::strong_si:
    case LevelId::serializable:
    case LevelId::strict_serializable:
    case LevelId::linearizable:
    case LevelId::mixed:
    case LevelId::defined:
      break;
  }
  return std::nullopt;
}

// Returns the axiom of each transaction that may take effect, by the level that it declares, with
// session order; nullopt if one of these levels cannot be mixed with others.
std::optional<std::vector<WeakAxiom>> declared_axioms(const History& h, const Footprints& small) {
  std::vector<WeakAxiom> axioms;
  for (const Footprint& f : small.txns) {
    std::optional<LevelId> level = h.declared_level(f.txn);
    if (level == LevelId::serializable) level = LevelId::session_serializable;
    if (level == LevelId::adya_si) level = LevelId::session_si;
    if (level == LevelId::monotonic_atomic_view) level = LevelId::read_committed;
    const bool guarantee =
        level == LevelId::read_your_writes || level == LevelId::monotonic_reads ||
        level == LevelId::monotonic_writes || level == LevelId::writes_follow_reads;
    const auto axiom = level && !guarantee ? axiom_of(*level) : std::nullopt;
    if (!axiom) return std::nullopt;
    axioms.push_back(*axiom);
  }
  return axioms;
}

// Tests the axioms on one commit order, each transaction with its own.
class Axioms {
 public:
  Axioms(const History& h, const Footprints& small, std::vector<WeakAxiom> axioms)
      : h_(h), small_(small), axioms_(std::move(axioms)) {}

  bool some_commit_order(TxnSet effective, const Attribution& attribution, bool* exhausted) {
    order_ = members(effective);
    if (order_.size() > kMaxOrdered) {
      *exhausted = true;
      return false;
    }
    attribution_ = &attribution;
    do {
      if (contains_known() && satisfies()) return true;
    } while (std::next_permutation(order_.begin(), order_.end()));
    return false;
  }

 private:
  // Returns the position in the commit order; the initial transaction is first.
  int at(int t) const {
    return t == kInitial
               ? -1
               : static_cast<int>(std::find(order_.begin(), order_.end(), t) - order_.begin());
  }
  bool co(int a, int b) const { return at(a) < at(b); }
  bool so(int a, int b) const {
    if (a == kInitial) return b != kInitial;
    return b != kInitial && session_before(h_, small_.txns[a], small_.txns[b]);
  }
  bool wr(int a, int b) const {
    return std::any_of(attribution_->reads.begin(), attribution_->reads.end(),
                       [&](const ReadsFrom& r) { return r.writer == a && r.reader == b; });
  }
  bool writes(int t, uint32_t key) const {
    return t == kInitial || small_.txns[t].install(key) != nullptr;
  }

  // Declared levels have session order.
  bool keeps_sessions() const {
    return std::ranges::find(axioms_, WeakAxiom::monotonic_atomic_view) == axioms_.end();
  }

  bool contains_known() const {
    for (const int a : order_) {
      for (const int b : order_) {
        if (((keeps_sessions() && so(a, b)) || wr(a, b)) && !co(a, b)) return false;
      }
    }
    return std::all_of(attribution_->write_order.begin(), attribution_->write_order.end(),
                       [&](const auto& pair) { return co(pair.first, pair.second); });
  }

  bool satisfies() const {
    if (!sees_one_state()) return false;
    for (const ReadsFrom& read : attribution_->reads) {
      if (premise(kInitial, read) && !axiom_allows(kInitial, read)) return false;
      for (const int t2 : order_) {
        if (premise(t2, read) && !axiom_allows(t2, read)) return false;
      }
    }
    return true;
  }
  // Below read atomic, a transaction may see several states of a key.
  bool sees_one_state() const {
    for (const ReadsFrom& a : attribution_->reads)
      for (const ReadsFrom& b : attribution_->reads)
        if (axioms_[a.reader] > WeakAxiom::read_committed && a.reader == b.reader &&
            a.key == b.key && a.writer != b.writer)
          return false;
    return true;
  }
  bool premise(int t2, const ReadsFrom& read) const {
    return t2 != read.writer && t2 != read.reader && writes(t2, read.key);
  }
  bool axiom_allows(int t2, const ReadsFrom& read) const {
    return !visible(t2, read) || co(t2, read.writer);
  }

  bool some(const auto& predicate) const {
    return predicate(kInitial) || std::any_of(order_.begin(), order_.end(), predicate);
  }
  bool causally(int a, int b) const {
    if (wr(a, b) || so(a, b)) return true;
    return some([&](int via) {
      return via != a && via != b && co(a, via) && co(via, b) && (wr(via, b) || so(via, b)) &&
             causally(a, via);
    });
  }

  bool visible(int t2, const ReadsFrom& read) const {
    const int t3 = read.reader;
    const auto up_to = [&](int t4) { return t4 == t2 || co(t2, t4); };
    switch (axioms_[t3]) {
      case WeakAxiom::read_your_writes:
        return so(t2, t3);
      case WeakAxiom::monotonic_reads:
        return some([&](int t) { return wr(t2, t) && so(t, t3); });
      case WeakAxiom::monotonic_writes:
        return some([&](int t) { return so(t2, t) && wr(t, t3); });
      case WeakAxiom::writes_follow_reads:
        return some([&](int t) {
          return wr(t, t3) && (wr(t2, t) || some([&](int r) { return wr(t2, r) && so(r, t); }));
        });
      case WeakAxiom::monotonic_atomic_view:
      case WeakAxiom::read_committed:
        return std::any_of(
            attribution_->reads.begin(), attribution_->reads.end(), [&](const ReadsFrom& earlier) {
              return earlier.reader == t3 && earlier.step < read.step && earlier.writer == t2;
            });
      case WeakAxiom::read_atomic:
        return wr(t2, t3) || so(t2, t3);
      case WeakAxiom::causal:
        return causally(t2, t3);
      case WeakAxiom::snapshot:
        if (some([&](int t4) { return up_to(t4) && co(t4, t3) && conflict(t4, t3); })) return true;
        [[fallthrough]];
      case WeakAxiom::prefix:
        return some([&](int t4) { return up_to(t4) && (wr(t4, t3) || so(t4, t3)); });
      case WeakAxiom::serializable:
        return co(t2, t3);
    }
    return false;
  }
  bool conflict(int a, int b) const {
    for (uint32_t k = 0; k < small_.keys.size(); ++k) {
      if (writes(a, k) && writes(b, k)) return true;
    }
    return false;
  }

  const History& h_;
  const Footprints& small_;
  const std::vector<WeakAxiom> axioms_;  // per transaction
  const Attribution* attribution_ = nullptr;
  std::vector<int> order_;
};

}  // namespace

Outcome by_version_orders(const History& history, LevelId level) {
  if (has_aggregates(history)) return Outcome::unknown;
  const LevelInfo& info = level_info(level);
  const bool has_events = info.events == EventModel::split || info.events == EventModel::single;
  if (!has_events || info.single_operations) return Outcome::unknown;
  const auto small = footprints(history, ReadsOf::committed, nullptr);
  if (!small || (info.real_time != RealTime::none && !has_times(history, *small))) {
    return Outcome::unknown;
  }
  EventGraph graph(history, *small, info);
  return some_reading(*small, Granularity::transaction,
                      [&](TxnSet effective, const Attribution& a, bool* exhausted) {
                        return graph.some_version_order(effective, a, exhausted);
                      });
}

Outcome by_axioms(const History& history, LevelId level) {
  if (has_aggregates(history)) return Outcome::unknown;
  const auto small = footprints(history, ReadsOf::committed, nullptr);
  const std::optional<WeakAxiom> axiom = axiom_of(level);
  if (!axiom || !small) return Outcome::unknown;
  Axioms axioms(history, *small, std::vector(small->txns.size(), *axiom));
  return some_reading(
      *small, level_info(level).repeatable ? Granularity::transaction : Granularity::operation,
      [&](TxnSet effective, const Attribution& a, bool* exhausted) {
        return axioms.some_commit_order(effective, a, exhausted);
      });
}

Outcome by_declared_levels(const History& history) {
  const auto small = footprints(history, ReadsOf::committed, nullptr);
  if (!small) return Outcome::unknown;
  auto declared = declared_axioms(history, *small);
  if (!declared) return Outcome::unknown;
  Axioms axioms(history, *small, std::move(*declared));
  const Outcome outcome = some_reading(
      *small, Granularity::operation, [&](TxnSet effective, const Attribution& a, bool* exhausted) {
        return axioms.some_commit_order(effective, a, exhausted);
      });
  return outcome == Outcome::satisfied && !small->contradiction.empty() ? Outcome::unknown
                                                                        : outcome;
}

}  // namespace assay::internal::oracle
