// Statement snapshots are decided on a history whose transactions are the statements and commits of
// this one (statement_history.h): whether it is serializable, and the evidence is translated.
//
//   s1: { r(x,0) w(x,1) }   s2: { r(x,0) w(x,2) }     four transactions: the reads, the writes
//
// A violation is not translated if it rests on what several operations of a statement saw of a key
// whose state several transactions may have left, or on what a list is made of: the level stays
// unknown. Cost: that of the other history.

#include <optional>
#include <utility>

#include "levels/rules.h"
#include "levels/statement_history.h"
#include "levels/walk.h"

namespace assay::internal {
namespace {

Judgement in_whole(const StatementHistory& statements, const CheckResult& result) {
  const Verdict& verdict = result.verdicts.front();
  if (verdict.outcome == Outcome::unknown)
    return Judgement::unknown({verdict.cause, verdict.reason});
  const Certificate& found = result.certificates[verdict.certificate];
  if (found.kind == Certificate::Kind::order)
    return Judgement::satisfied(statements.in_whole(found.order));
  if (found.kind == Certificate::Kind::bad_read &&
      found.bad_read.anomaly == Anomaly::non_repeatable_read)
    return Judgement::violated(statements.in_whole(found.bad_read));
  if (found.kind == Certificate::Kind::proof)
    if (std::optional<Proof> proof = statements.in_whole(found.proof))
      return Judgement::violated(std::move(*proof));
  return Judgement::unknown({UnknownCause::ambiguous,
                             "no order of statements explains all reads, but the evidence rests on "
                             "reads with several possible writers"});
}

}  // namespace

namespace rules {

bool has_statements(Case& c, const LevelInfo& level) {
  return level.events == EventModel::statements && c.is_explainable();
}

void decide_by_statements(Case& c, const LevelInfo& level) {
  if (c.has_aggregates)
    return c.lattice.give_up(
        level.id, {UnknownCause::unsupported, "aggregates have no meaning for statements yet"});
  if (!c.budget.has_room(2 * c.history.memory_bytes()))
    return c.lattice.set_unknown(level.id, c.budget.reason());
  const Result<StatementHistory> statements = StatementHistory::of(c.history);
  if (!statements.ok())
    return c.lattice.give_up(level.id, {UnknownCause::unsupported, statements.error().message});
  CheckOptions how = c.without_counts();
  how.levels = {LevelId::session_serializable};
  how.speed_ups.set(SpeedUp::carry, false);
  how.expected_order.reset();
  how.progress = nullptr;
  c.record(level.id, in_whole(*statements, decide_levels(statements->split(), how, c.budget)));
}

}  // namespace rules

}  // namespace assay::internal
