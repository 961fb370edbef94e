#include "oracle/selftest.h"

#include <fmt/format.h>

#include <algorithm>

#include "oracle/oracle.h"

namespace assay::internal::oracle {
namespace {

constexpr uint64_t kProgressEvery = 1000;

// Whether the oracle ran out of budget: only then are levels unknown to it that every history has.
bool ran_out(const Verdicts& oracle, const SelftestOptions& options) {
  return std::any_of(options.levels.begin(), options.levels.end(), [&](const LevelInfo& level) {
    const bool defined = level.real_time == RealTime::none && !level.single_operations;
    return defined && oracle[static_cast<size_t>(level.id)] == Outcome::unknown;
  });
}

std::string compare(const Verdicts& oracle, const Verdicts& checker,
                    const SelftestOptions& options) {
  const bool beyond_oracle = ran_out(oracle, options);
  for (const LevelInfo& level : options.levels) {
    const auto at = static_cast<size_t>(level.id);
    if (oracle[at] == checker[at]) continue;
    if (beyond_oracle && oracle[at] == Outcome::unknown) continue;
    // If the oracle has no definition (rich operations at the weak levels), the checker may still
    // refute, by the plain reads alone.
    const bool one_sided = checker[at] == Outcome::unknown ||
                           (oracle[at] == Outcome::unknown && checker[at] == Outcome::violated);
    if (options.may_abstain && one_sided) continue;
    return fmt::format("{}: the oracle says {}, the checker says {}", level.name,
                       outcome_name(oracle[at]), outcome_name(checker[at]));
  }
  return {};
}

// Names a level of Adya's that the checker calls satisfied although the history leaves open the
// place of a version that was read; empty if there is none.
std::string claimed_too_much(const History& history, const Verdicts& checker,
                             const SelftestOptions& options) {
  for (const LevelInfo& level : options.levels)
    if (level.events == EventModel::adya &&
        checker[static_cast<size_t>(level.id)] == Outcome::satisfied &&
        decide_with_known_orders(history, level.id) == Outcome::violated)
      return fmt::format("{} is reported satisfied, but the order of versions is unknown",
                         level.name);
  return {};
}

std::string judge(const History& history, const Verdicts& oracle, const Verdicts& checker,
                  const SelftestOptions& options) {
  if (std::string broken = broken_lattice(oracle); !broken.empty()) return "oracle: " + broken;
  std::string difference = compare(oracle, checker, options);
  if (difference.empty()) difference = broken_lattice(checker);
  return difference.empty() ? claimed_too_much(history, checker, options) : difference;
}

}  // namespace

std::string broken_lattice(const Verdicts& verdicts) {
  for (const LevelInfo& strong : all_levels()) {
    if (verdicts[static_cast<size_t>(strong.id)] != Outcome::satisfied) continue;
    for (const LevelInfo& weak : all_levels()) {
      if (!implies(strong.id, weak.id)) continue;
      if (verdicts[static_cast<size_t>(weak.id)] == Outcome::violated) {
        return fmt::format("{} is satisfied but {} is not", strong.name, weak.name);
      }
    }
  }
  return {};
}

std::string disagreement(const Checker& checker, const Draft& draft,
                         const SelftestOptions& options) {
  const auto history = draft.history();
  if (!history.ok()) return {};
  return judge(*history, decide_all(*history, options.levels), checker(*history), options);
}

SelftestResult selftest(const Checker& checker, const SelftestOptions& options) {
  SelftestResult result;
  Rng rng(options.seed);
  const auto wrong = [&](const Draft& d) { return disagreement(checker, d, options); };
  while (result.histories < options.count) {
    const Draft draft = random_draft(rng, options.shape);
    const auto history = draft.history();
    if (!history.ok()) continue;  // a mutation made the times of a session run backwards
    ++result.histories;
    const Verdicts oracle = decide_all(*history, options.levels);
    const Verdicts found = checker(*history);
    for (const LevelInfo& level : options.levels) {
      const auto i = static_cast<size_t>(level.id);
      ++result.outcomes[i][static_cast<size_t>(oracle[i])];
      result.abstained[i] += found[i] == Outcome::unknown && oracle[i] != Outcome::unknown;
    }
    if (!judge(*history, oracle, found, options).empty()) {
      const Draft smallest = shrink(draft, [&](const Draft& d) { return !wrong(d).empty(); });
      result.failure = fmt::format("{}\n{}(history {} of seed {})", wrong(smallest),
                                   smallest.text(), result.histories, options.seed);
      return result;
    }
    if (options.progress && result.histories % kProgressEvery == 0) {
      options.progress(static_cast<double>(result.histories) / static_cast<double>(options.count));
    }
  }
  return result;
}

}  // namespace assay::internal::oracle
