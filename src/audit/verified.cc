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

Unknown refusal(const Error& e) {
  if (e.kind == ErrorKind::budget)
    return {UnknownCause::effort, "the certificate was not verified: " + e.message};
  return bug("the verifier refused a certificate: " + e.message);
}

// Verifies the certificate; if it is refused, it is verified again level by level.
Refusals refusals(const Certificate& certificate, Verifier& verifier, unsigned threads) {
  Refusals refused;
  if (verifier.verify(certificate, threads).ok()) return refused;
  Certificate alone = certificate;
  for (const LevelId level : certificate.levels) {
    alone.levels = {level};
    if (Status s = verifier.verify(alone, threads); !s.ok())
      refused.emplace_back(level, refusal(s.error()));
  }
  return refused;
}

// A smaller history is verified before a thread has started.
constexpr uint32_t kFewTxns = 1 << 14;

// How many of these certificates, from the first on, there is memory for together; at most
// `threads`. The budget is exhausted only if there is not enough memory for the first alone.
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

std::vector<Refusals> refusals_of(const std::vector<Certificate>& certificates,
                                  const History& history, Budget& memory, unsigned threads) {
  if (threads == 0) threads = core_count();
  if (history.txn_count() < kFewTxns) threads = 1;
  Verifier verifier(history);
  std::vector<Refusals> refused;
  while (refused.size() < certificates.size()) {
    const size_t first = refused.size();
    const auto rest = std::span(certificates).subspan(first);
    const size_t together = with_room(rest, history, threads, memory);
    if (together == 0) break;
    refused.resize(first + together);
    const unsigned of_each = threads / static_cast<unsigned>(together);
    share_jobs(together, threads, [&](const auto& next) {
      for (size_t i = next(); i < together; i = next())
        refused[first + i] = refusals(rest[i], verifier, of_each);
    });
  }
  return refused;
}

bool withhold_refused(CheckResult& result, const std::vector<Refusals>& refused,
                      const Budget& memory) {
  bool any = false;
  for (Verdict& v : result.verdicts) {
    if (v.outcome == Outcome::unknown) continue;
    std::optional<Unknown> why;
    if (v.certificate >= result.certificates.size()) {
      why = bug("a verdict has no certificate");
    } else if (v.certificate >= refused.size()) {
      why = {UnknownCause::memory, "the certificate was not verified: " + memory.reason().detail};
    } else {
      Certificate& c = result.certificates[v.certificate];
      const bool listed = std::ranges::find(c.levels, v.level) != c.levels.end();
      for (const auto& [level, reason] : refused[v.certificate])
        if (level == v.level) why = reason;
      if (why && c.levels.size() > 1) std::erase(c.levels, v.level);
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
