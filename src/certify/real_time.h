// Real-time order: one event is before another iff its response came strictly before the other's
// request. If clocks of sessions may drift apart by D, an event of another session is before iff
// its response came at least D before the request.
//
//   T1 [0 … 10]        T1 ended before T3 began, so in strict serializability T1 comes before T3;
//        T2 [5 … 20]   T2 overlaps both and may be anywhere.
//             T3 [12 … 30]
//
// The commit of a transaction of unknown outcome happens at any time after its begin was requested:
// it precedes nothing. Events whose time is not known are before and after nothing.
//
// A whole order is checked without comparing pairs: sort one kind of event by response, the other
// by request, sweep both, and keep the latest place in the order of all that responded so far; an
// event that is requested after that must have a later place. O(n log n).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assay/history.h"
#include "assay/level.h"
#include "assay/result.h"
#include "certify/once.h"

namespace assay::internal::certify {

enum class Side : uint8_t { read, write };  // r and begin, w and commit

Interval time_of(const History& history, TxnId t, Side side);
// Whether one event is strictly before the other; false if a time is not known.
bool before_in_time(const History& history, TxnId from, Side from_side, TxnId to, Side to_side);
// Whether the level orders such a pair of events by time.
bool orders_by_time(RealTime rule, Side from, Side to);

// Checks orders against real time. `place` gives each event's place in the order by transaction,
// kNone for transactions that are not in it.
class RealTimeSweep {
 public:
  RealTimeSweep(const History& history, std::span<const uint32_t> read_place,
                std::span<const uint32_t> write_place)
      : history_(history), place_{read_place, write_place} {}

  Status respects(RealTime rule);

 private:
  struct Moment {
    int64_t time;
    TxnId txn;
  };
  using Moments = std::vector<Moment>;
  Status sweep(Side from, Side to);
  Status sweep(const Moments& done, const Moments& starts, int64_t drift, Side from, Side to);
  const Moments& responses(Side side);
  const Moments& requests(Side side);
  Moments collect(Side side, int64_t Interval::*end) const;
  std::vector<Moments> by_session(const Moments& moments) const;

  const History& history_;
  std::span<const uint32_t> place_[2];  // indexed by Side
  Once<Moments> responses_[2], requests_[2];
};

}  // namespace assay::internal::certify
