#include "audit/vacuity.h"

#include <algorithm>

#include "history/accesses.h"

namespace assay::internal {

uint64_t count_observations(const History& h) {
  uint64_t count = 0;
  WrittenKeys written;
  const auto look = [&](const Observation& seen) {
    // A list shows what others appended before the reader's own elements.
    count += seen.accepts == Accepts::list || !seen.own;
  };
  for (TxnId t = 0; t < h.txn_count(); ++t)
    if (h.status(t) == TxnStatus::committed)
      walk_accesses(h, t, written, look, [](const Install&) {});
  return count;
}

bool withhold_vacuous(CheckResult& result, const History& history, uint64_t observations) {
  const auto orders = history.known_orders();
  const bool evidence = std::any_of(orders.begin(), orders.end(),
                                    [](const KnownOrder& o) { return o.versions.size() > 1; });
  if (observations > 0 || evidence) return false;
  bool any = false;
  for (Verdict& v : result.verdicts) {
    if (v.outcome != Outcome::satisfied) continue;
    any = true;
    v.outcome = Outcome::unknown;
    v.certificate = kNone;
    v.cause = UnknownCause::vacuous;
    v.reason =
        "vacuous: no committed transaction observed anything that another could have written "
        "(--allow-empty accepts that)";
  }
  return any;
}

}  // namespace assay::internal
