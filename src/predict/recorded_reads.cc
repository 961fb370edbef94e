// Which transaction read from which, as numbers without gaps.
//
//   s1: { w(x,1) }!   s2: { r(x,null) w(x,2) r(x,2) } { r(x,2) }
//   0: reads x initially, writes x    1: reads x from 0
//
// The first transaction did not commit and has no number; a read of a key that its own transaction
// has written has no other source and is left out. The sources themselves are the ones that the
// verifier of executions finds (certify/boundary.h). Cost: linear in the history.

#include "predict/recorded_reads.h"

#include <algorithm>

#include "certify/boundary.h"
#include "history/accesses.h"

namespace assay::internal::predict {

Result<RecordedReads> RecordedReads::of(const History& h) {
  const auto sources = certify::RecordedSources::of(h);
  if (!sources.ok()) return sources.error();
  RecordedReads all;
  all.writers.resize(h.key_count());
  std::vector<uint32_t> number(h.txn_count(), kNone), last(h.session_count(), kNone);
  for (TxnId t = 0, next = 0; t < h.txn_count(); ++t)
    if (h.status(t) == TxnStatus::committed) number[t] = next++;
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    if (number[t] == kNone) continue;
    Txn txn{t, h.session(t), last[h.session(t)], h.end_op(t) - h.first_op(t), {}, {}};
    last[txn.session] = number[t];
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
      const uint32_t place = i - h.first_op(t);
      const KeyId key = h.op(i).key;
      if (!installs_version(h.op(i))) {
        const TxnId source = sources->source(i);
        if (source != t)
          txn.reads.push_back({i, key, source == kNone ? kNone : number[source], place});
      } else if (std::ranges::find(txn.writes, key, &Write::key) == txn.writes.end()) {
        txn.writes.push_back({key, place});
        all.writers[key].push_back(number[t]);
      }
    }
    all.txns.push_back(std::move(txn));
  }
  return all;
}

}  // namespace assay::internal::predict
