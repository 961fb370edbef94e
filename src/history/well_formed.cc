#include "history/well_formed.h"

#include <algorithm>
#include <string>

#include "history/accesses.h"

namespace assay::internal {

Status lists_begin_empty(const History& h) {
  if (!h.has_own_initial()) return Ok{};
  for (TxnId t = 0; t < h.txn_count(); ++t)
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
      const Operation op = h.op(i);
      if (is_list_operation(op) && !h.initial(op.key).is_null() && h.own_initial(op.key) != kNone)
        return bad_input("key " + h.key(op.key).to_string() +
                             " is used as a list, but has an initial value; expected none",
                         h.line(t));
    }
  return Ok{};
}

namespace {

// Tries the earliest moments at which the events of the session may have happened.
Status runs_forwards(const History& h, SessionId session) {
  int64_t now = Interval::kUnknown;  // the earliest moment at which the events so far were over
  TxnId last = kNone;
  for (TxnId t : h.session_txns(session)) {
    const Interval begin = h.begin_time(t);
    const Interval end = h.end_time(t);
    const bool backwards = (begin.known() && begin.request > begin.response) ||
                           (end.known() && end.request > end.response) ||
                           (begin.known() && end.known() && begin.request > end.response);
    if (backwards)
      return bad_input("transaction " + h.name(t) + " ends before it begins", h.line(t));
    for (const bool ends : {false, true}) {
      const Interval& event = ends ? end : begin;
      if (!event.known()) continue;
      if (event.response < now)
        return bad_input("transaction " + h.name(t) + (ends ? " ends at " : " begins at ") +
                             std::to_string(event.response) + ", before transaction " +
                             h.name(last) + " of the same session ended at " + std::to_string(now) +
                             "; expected the times of a session not to run backwards",
                         h.line(t));
      now = std::max(now, event.request);
    }
    if (begin.known() || end.known()) last = t;
  }
  return Ok{};
}

}  // namespace

Status sessions_run_forwards(const History& h) {
  for (SessionId s = 0; s < h.session_count(); ++s)
    if (Status times = runs_forwards(h, s); !times.ok()) return times;
  return Ok{};
}

}  // namespace assay::internal
