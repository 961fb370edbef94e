#include "oracle/precedence.h"

namespace assay::internal::oracle {
namespace {

// Returns when the moment happened. For the commit of a kept transaction of unknown outcome: any
// time from its begin on.
Interval when(const History& h, const Footprint& t, bool commit) {
  if (!commit) return h.begin_time(t.txn);
  if (t.certain) return h.end_time(t.txn);
  return {h.begin_time(t.txn).request, Interval::kUnknown};
}

}  // namespace

bool session_before(const History& h, const Footprint& i, const Footprint& j) {
  return i.certain && !j.alone && h.session(i.txn) == h.session(j.txn) &&
         h.position(i.txn) < h.position(j.txn);
}

bool time_before(const History& h, const Footprint& a, bool a_commit, const Footprint& b,
                 bool b_commit) {
  const int64_t response = when(h, a, a_commit).response;
  const int64_t request = when(h, b, b_commit).request;
  if (response == Interval::kUnknown || request == Interval::kUnknown) return false;
  const bool one_clock = h.session(a.txn) == h.session(b.txn) && !a.alone && !b.alone;
  if (h.clock_drift() == 0 || one_clock) return response < request;
  return response < request && static_cast<uint64_t>(request) - static_cast<uint64_t>(response) >=
                                   static_cast<uint64_t>(h.clock_drift());
}

bool has_times(const History& h, const Footprints& small) {
  for (const Footprint& t : small.txns) {
    if (t.certain && !(h.begin_time(t.txn).known() && h.end_time(t.txn).known())) return false;
  }
  return true;
}

}  // namespace assay::internal::oracle
