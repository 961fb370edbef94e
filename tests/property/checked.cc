#include "checked.h"

#include <algorithm>

#include "assay/verify.h"

namespace assay {
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

oracle::Verdicts checked(const History& history, std::string* complaint, const Switches& switches) {
  complaint->clear();
  CheckOptions options;
  options.switches = switches;
  const CheckResult result = check(history, options);
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

}  // namespace assay
