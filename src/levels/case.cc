#include "levels/case.h"

#include <algorithm>
#include <utility>

#include "history/aggregate.h"
#include "history/predicates.h"
#include "levels/rules.h"

namespace assay::internal {

bool has_clean_reads(const LevelInfo& level) {
  return level.events != EventModel::adya ||
         std::ranges::any_of(level.forbidden, [](const ForbiddenCycle& cycle) {
           return cycle.any.find('r') != cycle.any.npos;
         });
}

bool sees_through_readers(const LevelInfo& level) {
  return !level.seen.repeated && std::ranges::any_of(level.seen.words, [](std::string_view word) {
    return word.starts_with("rr");
  });
}

Case::Case(const History& whole, const CheckOptions& how)
    : history(whole),
      options(how),
      budget(how.budget),
      open(whole, problem, how, stages, budget),
      lattice(how, whole.declares_levels()),
      along(whole, problem, open, how, stages, budget),
      has_aggregates(has_open_aggregates(whole)),
      any_version_skipped(may_skip_any_version(whole)) {}

bool Case::match() {
  const auto timer = stages.time("match");
  if (!has_room_to_match(history, budget)) return false;
  problem = make_problem(history, {}, budget, {.threads = options.threads});
  if (budget.exhausted_now()) return false;
  const KnownOrders& known = problem.found.known;
  if (problem.found.mixed != kNone) {
    doubt_ = {UnknownCause::unsupported,
              "key " + history.key(problem.found.mixed).to_string() +
                  " is used as a list and as a register; expected one of the two"};
  } else if (!known.contradiction.empty()) {
    doubt_ = {UnknownCause::evidence, "contradicted evidence: " + known.contradiction +
                                          "; without it the level would be satisfied"};
  }
  if (known.ambiguous > 0) stages.count(kAmbiguousEntries, known.ambiguous);
  if (has_open_reads()) lattice.open_sources();
  return true;
}

Unknown Case::open_reason(const std::vector<OpId>& unresolved) const {
  if (problem.found.mixed != kNone) return doubt_;
  const OpId op = unresolved.front();
  std::string many;
  if (unresolved.size() > 1) many = " (" + std::to_string(unresolved.size()) + " such operations)";
  const std::string text = "transaction " + history.name(history.txn_of(op)) +
                           " has an operation that several states of the database explain" + many;
  for (const auto& listed : open.listed())
    if (listed && !listed->obstacle().empty())
      return {UnknownCause::unsupported, text + ": " + listed->obstacle()};
  return {UnknownCause::ambiguous, text};
}

CheckOptions Case::without_counts() const {
  CheckOptions uncounted = options;
  uncounted.count_constraints = false;
  return uncounted;
}

void Case::record(LevelId level, Judgement found) {
  if (found.outcome() == Outcome::unknown)
    return lattice.set_unknown(level, std::move(found.reason));
  if (found.outcome() == Outcome::satisfied && any_version_skipped &&
      sees_through_readers(history.level(level)))
    return lattice.set_unknown(level,
                               {UnknownCause::ambiguous,
                                "a query may have read any version of a key that never satisfied "
                                "its condition"});
  found.certificate.levels = lattice.served(level, found.certificate);
  record(std::move(found.certificate));
}

void Case::record(Certificate certificate) {
  if (certificate.outcome() == Outcome::satisfied) {
    if (!doubt_.empty()) {
      for (const LevelId level : certificate.levels)
        if (!lattice.is_decided(level)) lattice.give_up(level, doubt_);
      return;
    }
    if (has_aggregates && !explains_aggregates(*this, certificate))
      return leave_aggregates_open(*this, certificate);
  }
  lattice.record(std::move(certificate));
}

}  // namespace assay::internal
