// A history in the course of the decision, as the rules of the walk see it: the matched problem,
// the remaining budget, and the findings so far.
//
//   s1: { w(x,1) }   s2: { r(x,1) sum(*) = 2 }     an order is found for s1, s2, and the sum speaks
//                                                  against it: not satisfied yet
//
// A finding at one level is recorded here for all levels that it serves. Satisfied is held back if
// the history has something that no order explains: contradicting evidence, a key used in two ways,
// an aggregate.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "assay/check.h"
#include "infer/problem.h"
#include "infer/stages.h"
#include "levels/adya.h"
#include "levels/clock_faults.h"
#include "levels/lattice.h"
#include "levels/open_problem.h"
#include "levels/proof_hints.h"
#include "levels/seen_along.h"
#include "levels/shares.h"
#include "levels/source_search.h"
#include "levels/weak.h"

namespace assay::internal {

// Whether reads see only what a transaction that took effect left. One of Adya's levels that
// forbids no cycle with a read dependency lets them see aborted and overwritten writes too, and
// asks only that some transaction wrote what they saw.
bool has_clean_reads(const LevelInfo& level);
// Whether a transaction has seen what those have read that it reads from, and no further.
bool sees_through_readers(const LevelInfo& level);

struct Case {
  // Both must outlive it.
  Case(const History& whole, const CheckOptions& how);

  // False if the budget ran out.
  bool match();

  bool uses(SpeedUp s) const { return options.speed_ups.has(s); }
  // No read by itself refutes what levels ask of reads, so there is something to search.
  bool is_explainable() const { return problem.found.bad_read.anomaly == Anomaly::none; }
  bool has_open_reads() const { return !problem.unresolved.empty(); }
  bool timed_enough(const LevelInfo& level) const {
    return level.real_time == RealTime::none || history.fully_timed();
  }
  // Why operations whose source is open keep a level from being satisfied.
  Unknown open_reason(const std::vector<OpId>& unresolved) const;
  // For work that is not a level's own search.
  CheckOptions without_counts() const;

  // Records the judgement of a level, which serves others too. Satisfied counts only if nothing
  // contradicts it: something in the history that has no meaning, or aggregates that the order does
  // not explain.
  void record(LevelId level, Judgement found);
  // The same, of the levels in it.
  void record(Certificate certificate);
  // The levels of which this is true are refuted by one read.
  template <class Refutes>
  void record(const BadRead& bad, Refutes refutes) {
    Certificate certificate;
    certificate.kind = Certificate::Kind::bad_read;
    certificate.bad_read = bad;
    record_where(std::move(certificate), refutes);
  }
  // Or by an operation whose observation of a key no transaction can have left.
  template <class Refutes>
  void record_sourceless(OpId op, KeyId key, Refutes refutes) {
    Certificate certificate;
    certificate.kind = Certificate::Kind::proof;
    certificate.proof.steps = {sources_step(op, key)};
    record_where(std::move(certificate), refutes);
  }

  const History& history;
  const CheckOptions& options;
  Budget budget;
  Stages stages;
  Problem problem;
  OpenProblem open;
  Lattice lattice;
  Shares shares{budget, lattice};
  SeenAlong along;
  const bool has_aggregates;       // some are open
  const bool any_version_skipped;  // see may_skip_any_version
  // So little is left open that the strongest levels are decided at once.
  bool stated_first = false;

  // What deciding a level keeps for the next one.
  std::optional<WeakLevels> weak;
  std::optional<AdyaLevels> adya;
  std::optional<AdyaLevels> adya_alone;  // where reads may be dirty: updates order nothing
  ChosenSources chosen;                  // where transactions see one state of a key
  ChosenSources chosen_each;             // where each read is judged by itself
  std::optional<ClockFaults> clock_faults;
  std::set<LevelId> unexplained;  // satisfied by some order but for aggregates
  std::map<LevelId, std::optional<Order>> whole_orders;  // that explain aggregates
  std::optional<ExpectedOrderResult> expected_order;

 private:
  template <class Refutes>
  void record_where(Certificate certificate, Refutes refutes) {
    for (const LevelInfo& level : all_levels())
      if (refutes(level) && !follows_from_below(level) && lattice.is_asked(level))
        certificate.levels.push_back(level.id);
    record(std::move(certificate));
  }

  Unknown doubt_;  // why nothing can be called satisfied; empty if it can
};

}  // namespace assay::internal
