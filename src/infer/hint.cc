// A first guess at the order of events.
//
// Client times where the history has them: reads when the transaction began, writes when it ended;
// where both are only known to lie within the same interval, reads at its begin and writes at its
// end.
// Without times, the order of the file if sessions alternate in it, as in a log written while it
// happened; and if the file goes session by session, all sessions at an even pace.
//
//   s1: T1 T2 T3 T4        file: T1 T2 T3 T4 T5 T6, session by session
//   s2: T5 T6              guess: T1 T5 (at 0), T2 (at 1/4), T3 T6 (at 1/2), T4 (at 3/4)
//
// The guess decides what is tried first and never what is true: a wrong one costs time. O(transactions).

#include "infer/hint.h"

#include <algorithm>

namespace assay {
namespace {

// True if the file lists one session after the other.
bool session_by_session(const History& history, const ReadsFrom& rf) {
  size_t switches = 0;
  for (Node n = 1; n < rf.nodes(); ++n) {
    switches += history.session(rf.txn[n]) != history.session(rf.txn[n - 1]);
  }
  return switches < 2 * rf.sessions.size();
}

std::vector<int64_t> untimed(const History& history, const ReadsFrom& rf) {
  std::vector<int64_t> time(rf.nodes());
  if (!session_by_session(history, rf)) {
    for (Node n = 0; n < rf.nodes(); ++n) time[n] = n;
    return time;
  }
  constexpr int64_t kSpan = int64_t{1} << 40;
  for (const std::vector<Node>& session : rf.sessions) {
    for (size_t i = 0; i < session.size(); ++i) {
      time[session[i]] = static_cast<int64_t>(i) * kSpan / static_cast<int64_t>(session.size());
    }
  }
  return time;
}

}  // namespace

Hint make_hint(const History& history, const ReadsFrom& rf) {
  Hint hint;
  const bool timed = std::all_of(rf.txn.begin(), rf.txn.end(),
                                 [&](TxnId t) { return history.begin_time(t).known(); });
  if (!timed) {
    hint.write_time = untimed(history, rf);
    hint.read_time = hint.write_time;
    return hint;
  }
  hint.read_time.resize(rf.nodes());
  hint.write_time.resize(rf.nodes());
  for (Node n = 0; n < rf.nodes(); ++n) {
    const Interval begin = history.begin_time(rf.txn[n]);
    const Interval end = history.end_time(rf.txn[n]);
    if (end.known() && begin.response > end.request) {  // known only to lie within the whole
      hint.read_time[n] = begin.request;
      hint.write_time[n] = end.response;
      continue;
    }
    hint.read_time[n] = begin.response == Interval::kOpen ? begin.request : begin.response;
    hint.write_time[n] = end.known() ? end.request : hint.read_time[n];
  }
  return hint;
}

}  // namespace assay
