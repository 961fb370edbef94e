// A history in the course of the decision, as the rules of the walk see it: the matched problem,
// the remaining budget, and the findings so far.
//
//   s1: { w(x,1) }   s2: { r(x,1) sum(*) = 2 }     an order is found for s1, s2, but the sum speaks
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

// Whether reads see only what a transaction that took effect left. If one of Adya's levels forbids
// no cycle with a read dependency, its reads may also see aborted and overwritten writes; some
// transaction must have written what they saw.
bool has_clean_reads(const LevelInfo& level);
// Whether a transaction has seen what the transactions that it reads from have read, and nothing
// beyond.
bool sees_through_readers(const LevelInfo& level);

struct Case {
  // Both must outlive the case.
  Case(const History& whole, const CheckOptions& how);

  // Matches the reads. False if the budget ran out.
  bool match();

  bool uses(SpeedUp s) const { return options.speed_ups.has(s); }
  // Whether no single read refutes what levels require of reads, so a search makes sense.
  bool is_explainable() const { return problem.found.bad_read.anomaly == Anomaly::none; }
  bool has_open_reads() const { return !problem.unresolved.empty(); }
  bool timed_enough(const LevelInfo& level) const {
    return level.real_time == RealTime::none || history.fully_timed();
  }
  // Why operations whose source is open keep a level from being satisfied.
  Unknown open_reason(const std::vector<OpId>& unresolved) const;
  // The options for work that is not a level's own search.
  CheckOptions without_counts() const;

  // Records the judgement of a level, which serves others, too. Satisfied counts only if nothing
  // contradicts it: neither something in the history that has no meaning, nor aggregates that the
  // order does not explain.
  void record(LevelId level, Judgement found);
  // The same for the levels in the certificate.
  void record(Certificate certificate);
  // Records that one read refutes the levels for which `refutes` is true.
  template <class Refutes>
  void record(const BadRead& bad, Refutes refutes) {
    Certificate certificate;
    certificate.kind = Certificate::Kind::bad_read;
    certificate.bad_read = bad;
    record_where(std::move(certificate), refutes);
  }
  // The same for an operation whose observation of a key no transaction can have left.
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
  const bool has_aggregates;       // some aggregates are open
  const bool any_version_skipped;  // see may_skip_any_version
  // Whether so little is left open that the strongest levels are decided first.
  bool stated_first = false;

  // What deciding one weak level leaves for the next one.
  std::optional<WeakLevels> weak;
  std::optional<AdyaLevels> adya;
  std::optional<AdyaLevels> adya_alone;  // for reads that may be dirty: updates order nothing
  ChosenSources chosen;                  // for levels at which transactions see one state of a key
  ChosenSources chosen_each;             // for levels that judge each read by itself
  std::optional<ClockFaults> clock_faults;
  std::set<LevelId> unexplained;  // levels satisfied by some order except for aggregates
  std::map<LevelId, std::optional<Order>> whole_orders;  // orders that explain aggregates
  std::optional<ExpectedOrderResult> expected_order;

 private:
  template <class Refutes>
  void record_where(Certificate certificate, Refutes refutes) {
    for (const LevelInfo& level : all_levels())
      if (refutes(level) && !follows_from_below(level) && lattice.is_asked(level))
        certificate.levels.push_back(level.id);
    record(std::move(certificate));
  }

  Unknown doubt_;  // why nothing can be called satisfied; its text is empty if something can
};

}  // namespace assay::internal
