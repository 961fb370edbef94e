#include "checked.h"

#include <algorithm>

#include "assay/verify.h"
#include "levels/walk.h"

namespace assay::internal {
namespace {

// Empty if the certificate proves the verdict.
std::string objection(const Verdict& v, const CheckResult& result, const History& history) {
  if (v.certificate >= result.certificates.size()) return "it has no certificate";
  const Certificate& c = result.certificates[v.certificate];
  if (c.outcome() != v.outcome) return "its certificate is for the other outcome";
  if (std::count(c.levels.begin(), c.levels.end(), v.level) == 0) {
    return "its certificate does not name the level";
  }
  const Status verified = verify(c, history);
  return verified.ok() ? "" : verified.error().to_string();
}

}  // namespace

oracle::Verdicts checked(const History& history, std::string* complaint,
                         const CheckOptions& options) {
  complaint->clear();
  const CheckResult result = decide_levels(history, options);
  oracle::Verdicts verdicts;
  verdicts.fill(Outcome::unknown);
  for (const Verdict& v : result.verdicts) {
    Outcome& outcome = verdicts[static_cast<size_t>(v.level)];
    outcome = v.outcome;
    if (v.outcome == Outcome::unknown) continue;
    const std::string why = objection(v, result, history);
    if (why.empty()) continue;
    *complaint += std::string(level_info(v.level).name) + " " +
                  std::string(outcome_name(v.outcome)) + ": " + why + "\n";
    outcome = v.outcome == Outcome::satisfied ? Outcome::violated : Outcome::satisfied;
  }
  return verdicts;
}

std::vector<CheckOptions> ways_to_check() {
  std::vector<CheckOptions> ways(2);  // everything on; all off
  for (const SpeedUpInfo& each : all_speed_ups()) {
    ways[1].speed_ups.leave_out(each.id);
    CheckOptions without;
    without.speed_ups.leave_out(each.id);
    ways.push_back(without);
  }
  ways.emplace_back().engine = EngineId::dbcop;
  ways.push_back(ways[1]);
  ways.back().engine = EngineId::dbcop;
  return ways;
}

CheckOptions random_way(Rng& rng) {
  CheckOptions way;
  if (rng.chance(0.9)) {  // else as users have it
    const double off = rng.unit();
    for (const SpeedUpInfo& each : all_speed_ups()) way.speed_ups.set(each.id, !rng.chance(off));
  }
  if (rng.chance(0.15)) way.engine = EngineId::dbcop;
  way.threads = rng.chance(0.05) ? 2 : 1;
  return way;
}

}  // namespace assay::internal
