// When single operations ran, and the order they are put in: shared by the files that decide
// linearizability.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "assay/history.h"
#include "infer/event_graph.h"

namespace assay::internal {

// The request and response of each transaction. An operation of unknown outcome may take effect at
// any time after its request. If clocks drift, responses are later by the drift; session order
// tells the order within a session that the drift hides.
struct OperationTimes {
  static constexpr int64_t kForever = std::numeric_limits<int64_t>::max();

  struct Span {
    int64_t begin;  // Interval::kUnknown, before everything, if it is not known
    int64_t end;
  };

  explicit OperationTimes(const History& history) : spans_(history.txn_count()) {
    for (TxnId t = 0; t < history.txn_count(); ++t) {
      const bool known = history.status(t) == TxnStatus::committed && history.end_time(t).known();
      spans_[t] = {history.begin_time(t).request,
                   known ? last_overlap(history, history.end_time(t).response) : kForever};
    }
  }
  const Span& operator[](TxnId t) const { return spans_[t]; }

  // Makes each operation end before its session begins the next if these are the same moment. An
  // order for these times is also one for the true ones, and respects every session; if these have
  // no order, that proves nothing.
  void part_sessions(const History& history) {
    for (SessionId s = 0; s < history.session_count(); ++s) {
      const auto txns = history.session_txns(s);
      for (size_t i = 1; i < txns.size(); ++i) {
        Span& before = spans_[txns[i - 1]];
        if (before.end == spans_[txns[i]].begin && before.begin < before.end) --before.end;
      }
    }
  }

 private:
  std::vector<Span> spans_;
};

// Whether the operations of the sequence can have instants within their intervals, one after the
// other: each gets the earliest one that is left.
inline bool fits_the_clock(const OperationTimes& times, std::span<const TxnId> sequence) {
  int64_t now = std::numeric_limits<int64_t>::min();
  return std::all_of(sequence.begin(), sequence.end(), [&](TxnId t) {
    now = std::max(now, times[t].begin);
    return now <= times[t].end;
  });
}

}  // namespace assay::internal
