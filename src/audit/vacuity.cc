#include "audit/vacuity.h"

#include <algorithm>
#include <vector>

namespace assay {

uint64_t count_observations(const History& h) {
  std::vector<TxnId> writer(h.key_count(), kNone);  // the last transaction that wrote the key
  uint64_t count = 0;
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    if (h.status(t) != TxnStatus::committed) continue;
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
      const Operation op = h.op(i);
      switch (op.kind) {
        case OpKind::range:
        case OpKind::read_list:  // shows what others appended before the own elements
          ++count;
          break;
        case OpKind::read:
        case OpKind::cas:
        case OpKind::insert:
          count += writer[op.key] != t;
          break;
        case OpKind::write:
        case OpKind::remove:
        case OpKind::append:
          break;
      }
      if (installs_version(op)) writer[op.key] = t;
    }
  }
  return count;
}

void withhold_vacuous(CheckResult& result, const History& history, uint64_t observations) {
  const auto orders = history.known_orders();
  const bool evidence = std::any_of(orders.begin(), orders.end(),
                                    [](const KnownOrder& o) { return o.versions.size() > 1; });
  if (observations > 0 || evidence) return;
  for (Verdict& v : result.verdicts) {
    if (v.outcome != Outcome::satisfied) continue;
    v.outcome = Outcome::unknown;
    v.certificate = kNone;
    v.cause = UnknownCause::vacuous;
    v.reason =
        "vacuous: no committed transaction observed anything that another could have written "
        "(--allow-empty accepts that)";
  }
}

}  // namespace assay
