#include "oracle/oracle.h"

#include <bit>
#include <optional>
#include <variant>

#include "oracle/adya.h"
#include "oracle/commit_order.h"
#include "oracle/replay.h"
#include "oracle/second_opinion.h"
#include "oracle/statements.h"
#include "oracle/version_sets.h"

namespace assay::internal::oracle {
namespace {

constexpr int kMaxUnknown = 8;

// One of Adya's levels by its name.
struct Adya {
  LevelId level;
  Orders orders = Orders::any;
};

struct Statements {};

using Definition = std::variant<Visibility, OrderRule, Adya, Statements>;

// Defines the levels again, instead of using level_info, so an error there is found.
Definition definition(LevelId level) {
  //                    split, session order, write conflict, real time
  switch (level) {
    case LevelId::pl_1:
    case LevelId::pl_2:
    case LevelId::pl_cs:
    case LevelId::pl_2_plus:
    case LevelId::pl_2_99:
    case LevelId::pl_3:
      return Adya{level};
    case LevelId::read_your_writes:
      return Visibility::read_your_writes;
    case LevelId::monotonic_reads:
      return Visibility::monotonic_reads;
    case LevelId::monotonic_writes:
      return Visibility::monotonic_writes;
    case LevelId::writes_follow_reads:
      return Visibility::writes_follow_reads;
    case LevelId::monotonic_atomic_view:
      return Visibility::monotonic_atomic_view;
    case LevelId::read_committed:
      return Visibility::read_committed;
    case LevelId::statement_snapshot:
      return Statements{};
    case LevelId::read_atomic:
      return Visibility::read_atomic;
    case LevelId::causal:
      return Visibility::causal;
    case LevelId::prefix:
      return OrderRule{true, true, false, RealTime::none};
    case LevelId::adya_si:
      return OrderRule{true, false, true, RealTime::none};
    case LevelId::session_si:
      return OrderRule{true, true, true, RealTime::none};
    case LevelId::generalized_si:
      return OrderRule{true, false, true, RealTime::into_commits};
    case LevelId::strong_session_si:
      return OrderRule{true, true, true, RealTime::into_commits};
    case LevelId::strong_si:
      return OrderRule{true, true, true, RealTime::all_but_begins};
    case LevelId::serializable:
      return OrderRule{false, false, false, RealTime::none};
    case LevelId::session_serializable:
      return OrderRule{false, true, false, RealTime::none};
    case LevelId::strict_serializable:
    case LevelId::linearizable:
      return OrderRule{false, true, false, RealTime::transactions};
    case LevelId::mixed:    // by_declared_levels
    case LevelId::defined:  // definition_by_row
      break;
  }
  return Visibility::read_committed;
}

// The definition of a level by a row that the user gives.
Definition definition_by_row(const LevelInfo& row) {
  if (row.events == EventModel::adya) return Adya{row.id};
  if (row.events == EventModel::weak) return Visibility::defined;
  return OrderRule{row.events == EventModel::split, row.session_order, row.write_conflict,
                   row.real_time};
}

// Calls `visit` with every version that transaction t returned to its client, and its stated source
// (kNone: nothing is stated); or, if `written`, with every version that it wrote.
template <class Visit>
void each_version(const History& h, TxnId t, bool written, const Visit& visit) {
  for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
    const Operation op = h.op(i);
    const auto operands = h.operands(i);
    switch (op.kind) {
      case OpKind::read:
        if (!written) visit(op.version, h.stated_source(i));
        break;
      case OpKind::read_list:
        for (size_t j = 0; j < operands.size() && !written; ++j) visit(operands[j], kNone);
        break;
      case OpKind::range:
        if (written) break;
        for (const VersionId v : h.selected(i).rows) visit(v, kNone);
        for (const VersionId v : h.selected(i).passed) visit(v, kNone);
        break;
      case OpKind::cas:
        if (op.effect) visit(written ? op.version : operands[0], kNone);
        break;
      default:
        if (written && op.effect) visit(op.version, kNone);
        break;
    }
  }
}

// Whether the writer can have left what the reader saw: as the state at its end, or as a version it
// wrote on the way, unless that is the initial one.
bool may_read_from(const History& h, const Footprint& reader, const Footprint& writer) {
  for (const Observation& o : reader.observations) {
    const Install* put = writer.install(o.need.key);
    if (put == nullptr) continue;
    for (State s = 0; s < kMaxStates; ++s) {
      if (put->next[s] != kOff && (o.need.accept & only(put->next[s]))) return true;
    }
  }
  bool found = false;
  each_version(h, reader.txn, false, [&](VersionId read, TxnId stated) {
    if (stated != kNone && stated != writer.txn) return;
    each_version(h, writer.txn, true, [&](VersionId written, TxnId) {
      found |= read == written && !h.is_initial(read);
    });
  });
  return found;
}

// Returns the transactions that may count: certain ones, and those whose writes one of these may
// have read.
TxnSet may_count(const History& h, const Footprints& small) {
  const int n = static_cast<int>(small.txns.size());
  TxnSet counting = 0;
  for (int t = 0; t < n; ++t) {
    if (small.txns[t].takes_effect()) counting |= TxnSet{1} << t;
  }
  for (bool again = true; again;) {
    again = false;
    for (int w = 0; w < n; ++w) {
      for (int r = 0; r < n && !contains(counting, w); ++r) {
        if (!contains(counting, r) || !may_read_from(h, small.txns[r], small.txns[w])) continue;
        counting |= TxnSet{1} << w;
        again = true;
      }
    }
  }
  return counting;
}

class Oracle {
 public:
  explicit Oracle(const History& h, ReadsOf reads = ReadsOf::committed)
      : h_(h), small_(footprints(h, reads, &refusal_)) {
    if (!small_) return;
    for (int t = 0; t < static_cast<int>(small_->txns.size()); ++t) {
      const Footprint& txn = small_->txns[t];
      (txn.takes_effect() ? certain_ : unknown_) |= TxnSet{1} << t;
    }
    if (std::popcount(unknown_) > kMaxUnknown)
      refusal_ = "too many unknown outcomes to try them all";
    has_times_ = has_times(h, *small_);
  }

  Outcome decide(LevelId level, std::string* why) const;
  // Decides Adya's level if only known orders of versions count.
  Outcome decide_known(LevelId level) const {
    if (!refusal_.empty()) return Outcome::unknown;
    return some_subset(Adya{level, Orders::known});
  }

 private:
  bool all_single_operations() const;
  Outcome some_subset(const Definition& d) const;
  Outcome exactly(const Definition& d, TxnSet effective) const;
  std::string first_contradiction() const;

  const History& h_;
  std::string refusal_;
  std::optional<Footprints> small_;
  TxnSet certain_ = 0, unknown_ = 0;
  bool has_times_ = false;
};

bool Oracle::all_single_operations() const {
  const TxnSet counting = may_count(h_, *small_);
  for (int t = 0; t < static_cast<int>(small_->txns.size()); ++t) {
    if (contains(counting, t) && !small_->txns[t].single_operation) return false;
  }
  return true;
}

Outcome Oracle::exactly(const Definition& d, TxnSet effective) const {
  if (const auto* visibility = std::get_if<Visibility>(&d)) {
    return commit_order_exists(h_, *small_, *visibility, effective);
  }
  if (const auto* adya = std::get_if<Adya>(&d))
    return adya->level == LevelId::pl_1
               ? dirty_version_order_exists(h_, *small_, adya->orders, effective)
               : version_order_exists(h_, *small_, adya->level, adya->orders, effective);
  if (std::holds_alternative<Statements>(d)) return statements_replayable(h_, *small_, effective);
  return replayable(h_, *small_, std::get<OrderRule>(d), effective);
}

// Satisfied if that holds for some guess of which unknown transactions took effect.
Outcome Oracle::some_subset(const Definition& d) const {
  Outcome result = Outcome::violated;
  TxnSet guess = 0;
  do {
    const Outcome o = exactly(d, certain_ | guess);
    if (o == Outcome::satisfied) return o;
    if (o == Outcome::unknown) result = o;
    guess = (guess - unknown_) & unknown_;  // the next subset
  } while (guess != 0);
  return result;
}

std::string Oracle::first_contradiction() const {
  for (const Footprint& t : small_->txns) {
    if (t.certain && !t.contradiction.empty()) return h_.name(t.txn) + ": " + t.contradiction;
  }
  return {};
}

Outcome Oracle::decide(LevelId level, std::string* why) const {
  const auto answer = [why](Outcome o, const std::string& reason) {
    if (why != nullptr) *why = o == Outcome::satisfied ? "" : reason;
    return o;
  };
  if (!refusal_.empty()) return answer(Outcome::unknown, refusal_);
  if (level == LevelId::linearizable && !all_single_operations()) {
    return answer(Outcome::unknown, "defined for transactions of one operation on one key only");
  }
  Definition d = level == LevelId::defined ? definition_by_row(h_.level(level)) : definition(level);
  auto* rule = std::get_if<OrderRule>(&d);
  const bool untimed = rule != nullptr && rule->real_time != RealTime::none && !has_times_;
  if (untimed) rule->real_time = RealTime::none;
  const Outcome outcome = some_subset(d);
  if (outcome == Outcome::unknown) return answer(outcome, "too many situations to try them all");
  if (untimed && outcome == Outcome::satisfied) {
    return answer(Outcome::unknown, "a committed transaction has no times");
  }
  if (outcome == Outcome::satisfied && !small_->contradiction.empty())
    return answer(Outcome::unknown, small_->contradiction);
  std::string reason = first_contradiction();
  if (reason.empty()) reason = "no order of the transactions explains every read";
  return answer(outcome, reason);
}

// Satisfied if that holds for some of these histories, violated if it holds for none.
template <class Decide>
Outcome some_history(const std::vector<History>& histories, const Decide& decide) {
  Outcome result = Outcome::violated;
  for (const History& history : histories) {
    const Outcome one = decide(history);
    if (one == Outcome::satisfied) return one;
    if (one == Outcome::unknown) result = one;
  }
  return result;
}

constexpr std::string_view kTooManySets = "too many sets of versions may be what was aggregated";

}  // namespace

Outcome decide(const History& history, LevelId level, std::string* why) {
  if (has_aggregates(history)) {
    const auto histories = with_rows_returned(history);
    if (why != nullptr) *why = histories ? "" : kTooManySets;
    if (!histories) return Outcome::unknown;
    return some_history(*histories, [&](const History& h) { return decide(h, level, why); });
  }
  if (level == LevelId::mixed) return by_declared_levels(history);
  return Oracle(history).decide(level, why);
}

Outcome decide_with_known_orders(const History& history, LevelId level) {
  if (has_aggregates(history)) {
    const auto histories = with_rows_returned(history);
    if (!histories) return Outcome::unknown;
    return some_history(*histories,
                        [&](const History& h) { return decide_with_known_orders(h, level); });
  }
  const Oracle oracle(history);
  const Outcome outcome = oracle.decide_known(level);
  // The level below allows what this level allows, because of the orders that this one makes known.
  if (level != LevelId::pl_1 || outcome == Outcome::satisfied) return outcome;
  const Outcome above = oracle.decide_known(LevelId::pl_2);
  return above == Outcome::violated ? outcome : above;
}

Outcome decide_with_aborted_reads(const History& history, LevelId level) {
  const bool ordered = std::holds_alternative<OrderRule>(definition(level));
  if (!ordered || level == LevelId::linearizable) return Outcome::unknown;
  if (has_aggregates(history)) {
    const auto histories = with_rows_returned(history);
    if (!histories) return Outcome::unknown;
    return some_history(*histories,
                        [&](const History& h) { return decide_with_aborted_reads(h, level); });
  }
  return Oracle(history, ReadsOf::all).decide(level, nullptr);
}

std::array<Outcome, kLevelCount> decide_all(const History& history,
                                            std::span<const LevelInfo> levels) {
  std::array<Outcome, kLevelCount> result;
  result.fill(Outcome::unknown);
  std::optional<std::vector<History>> histories;
  if (has_aggregates(history) && !(histories = with_rows_returned(history))) return result;
  std::vector<Oracle> oracles;
  if (histories)
    for (const History& h : *histories) oracles.emplace_back(h);
  else
    oracles.emplace_back(history);
  for (const LevelInfo& level : levels) {
    Outcome& outcome = result[static_cast<size_t>(level.id)];
    outcome = Outcome::violated;
    for (const Oracle& oracle : oracles) {
      const Outcome one = oracle.decide(level.id, nullptr);
      if (one != Outcome::violated) outcome = one;
      if (one == Outcome::satisfied) break;
    }
  }
  return result;
}

}  // namespace assay::internal::oracle
