#include "audit/verified.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/verify.h"
#include "base/bug.h"

namespace assay::internal {
namespace {

// What the verifier makes of a certificate, if it does not accept it.
std::optional<Unknown> refusal(const Status& verified) {
  if (verified.ok()) return std::nullopt;
  const Error& e = verified.error();
  if (e.kind == ErrorKind::budget)
    return Unknown{UnknownCause::effort, "the certificate was not verified: " + e.message};
  return bug("the verifier refused a certificate: " + e.message);
}

}  // namespace

void verify_verdicts(CheckResult& result, const History& history, Budget memory) {
  std::vector<std::optional<Unknown>> refusals;  // of those for which there was room
  for (const Certificate& c : result.certificates) {
    if (!memory.has_room(verification_bytes(c, history))) break;
    refusals.push_back(refusal(verify(c, history)));
  }
  for (Verdict& v : result.verdicts) {
    if (v.outcome == Outcome::unknown) continue;
    std::optional<Unknown> why;
    if (v.certificate >= result.certificates.size()) {
      why = bug("a verdict has no certificate");
    } else if (v.certificate >= refusals.size()) {
      why = {UnknownCause::memory, "the certificate was not verified: " + memory.reason().detail};
    } else {
      const Certificate& c = result.certificates[v.certificate];
      why = refusals[v.certificate];
      const bool listed = std::ranges::find(c.levels, v.level) != c.levels.end();
      if (!why && (!listed || c.outcome() != v.outcome))
        why = bug("a certificate is for other levels or proves the opposite");
    }
    if (!why) continue;
    v.outcome = Outcome::unknown;
    v.certificate = kNone;
    v.cause = why->cause;
    v.reason = std::move(why->detail);
  }
}

}  // namespace assay::internal
