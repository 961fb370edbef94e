// Why each policy provides its level. Let the commit order be the order in which transactions with
// writes take effect; every key's versions follow it.
//
//   strict-serializable, linearizable: the view is everything committed before begin, and a
//   transaction that writes
//     commits only if nothing it read has changed since. So it might have run at its commit, and
//     one that only reads at its begin: both inside its interval.
//   session-serializable: the same with older points for some; a stale reader is placed at its
//   point, never before what
//     its session saw. serializable: before that, too.
//   strong-si … adya-si: a point, and first committer wins on the keys written. The fewer promises
//   about the point
//     (fresh; the session's own; chosen at begin, so that no commit after begin is seen), the
//     weaker the level.
//   prefix: a point and no check. causal: replicas. read-atomic: whole transactions, scattered.
//   read-committed: a new point for every read, never an older one within a transaction.
//   statement-snapshot: each operation is a statement, and its point is the newest. A transaction
//     that writes a key has it alone from then on; one that did not is refused when it commits.
//
// A range is one read of every key within its bounds, present or not. An insert, a removal and a
// compare-and-set are one read of their key, and write only if that lets them. An append is a write
// without a read: the element comes after all that were committed before.
#include "collect/simulated/policy.h"

#include <algorithm>
#include <initializer_list>

#include "collect/generate.h"

namespace assay::internal::collect {
namespace {

constexpr uint32_t kMaxLag = 16;
constexpr double kLagShare = 0.125;

Policy fresh(Check check) { return {.check = check}; }

Policy lagging(Check check, Moment moment, bool sees_session) {
  return {.moment = moment,
          .check = check,
          .sees_session = sees_session,
          .max_lag = kMaxLag,
          .lag_share = kLagShare};
}

bool implies_any(LevelId level, std::initializer_list<LevelId> weaker) {
  return std::any_of(weaker.begin(), weaker.end(), [&](LevelId w) { return implies(level, w); });
}

}  // namespace

Policy policy_of(LevelId level) {
  switch (level) {
    case LevelId::linearizable:
    case LevelId::strict_serializable:
      return fresh(Check::reads);
    case LevelId::session_serializable:
      return lagging(Check::reads, Moment::begin, true);
    case LevelId::serializable:
    case LevelId::pl_3:
    case LevelId::pl_2_99:
      return lagging(Check::reads, Moment::begin, false);
    case LevelId::strong_si:
      return fresh(Check::writes);
    case LevelId::strong_session_si: {
      Policy policy = lagging(Check::writes, Moment::begin, true);
      policy.sees_previous = true;
      return policy;
    }
    case LevelId::generalized_si:
      return lagging(Check::writes, Moment::begin, false);
    case LevelId::session_si:
      return lagging(Check::writes, Moment::first_read, true);
    case LevelId::adya_si:
    case LevelId::pl_2_plus:
    case LevelId::pl_cs:
      return lagging(Check::writes, Moment::first_read, false);
    case LevelId::prefix:
      return lagging(Check::none, Moment::first_read, true);
    case LevelId::causal:
    case LevelId::monotonic_reads:
    case LevelId::monotonic_writes:
    case LevelId::writes_follow_reads:
      return {.view = ViewKind::replicas};
    case LevelId::read_atomic:
    case LevelId::read_your_writes:
      return {.view = ViewKind::scattered};
    case LevelId::read_committed:
    case LevelId::monotonic_atomic_view:
    case LevelId::pl_2:
    case LevelId::pl_1:
      return lagging(Check::none, Moment::every_read, false);
    case LevelId::statement_snapshot:
      return {.moment = Moment::every_read, .check = Check::locks};
    case LevelId::mixed:    // its sessions have levels of their own
    case LevelId::defined:  // its row does not say how a database provides it
      break;
  }
  return {};
}

Policy weaken(Policy policy, Anomaly bug) {
  switch (bug) {
    case Anomaly::non_repeatable_read:
    case Anomaly::fractured_read:
      policy.view = ViewKind::point;
      policy.moment = Moment::every_read;
      return policy;
    case Anomaly::non_monotonic_read:
      policy.view = ViewKind::point;
      policy.moment = Moment::every_read;
      policy.backwards = true;
      return policy;
    case Anomaly::session_guarantee_violation:
      policy.view = ViewKind::point;
      policy.sees_session = false;
      policy.max_lag = kMaxLag;
      policy.lag_share = 1;
      return policy;
    case Anomaly::causality_violation:
      policy.view = ViewKind::scattered;
      return policy;
    case Anomaly::long_fork:
      policy.view = ViewKind::replicas;
      // In this case readers may begin before the writers that they see or miss have committed, and
      // real time says nothing about them.
      if (policy.check == Check::reads) policy.moment = Moment::first_read;
      return policy;
    case Anomaly::lost_update:
      policy.check = Check::none;
      return policy;
    case Anomaly::write_skew:
      policy.check = Check::writes;
      return policy;
    case Anomaly::g2:
      policy.check = Check::found;
      return policy;
    case Anomaly::phantom:
      policy.view = ViewKind::point;
      policy.moment = Moment::every_range;
      return policy;
    case Anomaly::g1c:
      policy.check = Check::none;
      policy.bad_read = bug;
      return policy;
    case Anomaly::real_time_violation:
      // Snapshots of serializable levels are stale, those of SI levels newer than their begin.
      if (policy.check == Check::writes) {
        policy.moment = Moment::first_read;
      } else {
        policy.max_lag = kMaxLag;
        policy.lag_share = 1;
      }
      return policy;
    default:
      policy.bad_read = bug;
      return policy;
  }
}

std::span<const Anomaly> all_bugs() { return kShownByConditions; }

bool forbids(LevelId level, Anomaly bug) {
  using enum LevelId;
  switch (bug) {
    case Anomaly::thin_air_read:
    case Anomaly::aborted_read:
    case Anomaly::future_read:
    case Anomaly::not_my_last_write:
    case Anomaly::not_my_own_write:
    case Anomaly::intermediate_read:
      return true;
    case Anomaly::session_guarantee_violation:
      return implies_any(level, {read_atomic, statement_snapshot});
    case Anomaly::non_monotonic_read:
      return implies(level, monotonic_atomic_view);
    case Anomaly::non_repeatable_read:
    case Anomaly::fractured_read:
    case Anomaly::phantom:
      return implies_any(level, {read_atomic, adya_si});
    case Anomaly::causality_violation:
      return implies_any(level, {causal, adya_si});
    case Anomaly::long_fork:
      return implies_any(level, {prefix, adya_si});
    case Anomaly::lost_update:
      return implies(level, adya_si);
    case Anomaly::write_skew:
    case Anomaly::g2:
      return implies(level, serializable);
    case Anomaly::g1c:
      return implies_any(level, {read_committed, pl_2});
    case Anomaly::real_time_violation:
      return implies_any(level, {generalized_si, strict_serializable});
    default:
      return false;
  }
}

}  // namespace assay::internal::collect
