#include "audit/verified.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/verify.h"
#include "base/bug.h"
#include "base/parallel.h"

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

// Verifying a smaller history is over before a thread has started.
constexpr uint32_t kFewTxns = 1 << 14;

// How many of these certificates, from the first on, there is room for together, at most `threads`. The budget is exhausted
// only if there is no room for the first alone.
size_t with_room(std::span<const Certificate> certificates, const History& history,
                 unsigned threads, Budget& memory) {
  uint64_t bytes = verification_bytes(certificates.front(), history);
  if (!memory.has_room(bytes)) return 0;
  size_t count = 1;
  for (; count < std::min<size_t>(threads, certificates.size()); ++count) {
    bytes += verification_bytes(certificates[count], history);
    if (Budget for_all = memory; !for_all.has_room(bytes)) break;
  }
  return count;
}

}  // namespace

std::vector<std::optional<Unknown>> refusals_of(const std::vector<Certificate>& certificates,
                                                const History& history, Budget& memory,
                                                unsigned threads) {
  if (threads == 0) threads = core_count();
  if (history.txn_count() < kFewTxns) threads = 1;
  Verifier verifier(history);
  std::vector<std::optional<Unknown>> refusals;
  while (refusals.size() < certificates.size()) {
    const size_t first = refusals.size();
    const auto rest = std::span(certificates).subspan(first);
    const size_t together = with_room(rest, history, threads, memory);
    if (together == 0) break;
    refusals.resize(first + together);
    const unsigned of_each = threads / static_cast<unsigned>(together);
    share_jobs(together, threads, [&](const auto& next) {
      for (size_t i = next(); i < together; i = next())
        refusals[first + i] = refusal(verifier.verify(rest[i], of_each));
    });
  }
  return refusals;
}

bool withhold_refused(CheckResult& result, const std::vector<std::optional<Unknown>>& refusals,
                      const Budget& memory) {
  bool any = false;
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
    any = true;
    v.outcome = Outcome::unknown;
    v.certificate = kNone;
    v.cause = why->cause;
    v.reason = std::move(why->detail);
  }
  return any;
}

void verify_verdicts(CheckResult& result, const History& history, Budget memory, unsigned threads) {
  const auto refusals = refusals_of(result.certificates, history, memory, threads);
  withhold_refused(result, refusals, memory);
}

}  // namespace assay::internal
