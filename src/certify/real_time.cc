#include "certify/real_time.h"

#include <algorithm>

#include "certify/refusal.h"

namespace assay::certify {

Interval time_of(const History& history, TxnId t, Side side) {
  if (side == Side::read) return history.begin_time(t);
  if (history.status(t) == TxnStatus::committed) return history.end_time(t);
  return {history.begin_time(t).request, Interval::kUnknown};
}

bool before_in_time(const History& history, TxnId from, Side from_side, TxnId to, Side to_side) {
  const int64_t response = time_of(history, from, from_side).response;
  const int64_t request = time_of(history, to, to_side).request;
  return response != Interval::kUnknown && request != Interval::kUnknown && response < request;
}

bool orders_by_time(RealTime rule, Side from, Side to) {
  switch (rule) {
    case RealTime::none:
      return false;
    case RealTime::into_commits:
      return to == Side::write;
    case RealTime::all_but_begins:
      return from == Side::write || to == Side::write;
    case RealTime::transactions:
      return from == Side::write && to == Side::read;
  }
  return false;
}

Status RealTimeSweep::respects(RealTime rule) {
  for (Side from : {Side::read, Side::write})
    for (Side to : {Side::read, Side::write})
      if (orders_by_time(rule, from, to))
        if (Status s = sweep(from, to); !s.ok()) return s;
  return Ok{};
}

Status RealTimeSweep::sweep(Side from, Side to) {
  const std::span<const uint32_t> from_place = place_[static_cast<int>(from)];
  const std::span<const uint32_t> to_place = place_[static_cast<int>(to)];
  const Moments& done = responses(from);
  size_t next = 0;
  TxnId last = kNone;  // of all that responded so far, the one that stands last in the order
  for (const Moment& start : requests(to)) {
    for (; next < done.size() && done[next].time < start.time; ++next)
      if (last == kNone || from_place[done[next].txn] > from_place[last]) last = done[next].txn;
    // A transaction's own r is before its own w, so it never stands in its own way.
    if (last != kNone && from_place[last] > to_place[start.txn])
      return refuse("the order puts transaction {} before transaction {}, which {} before it {}",
                    history_.name(start.txn), history_.name(last),
                    from == Side::read ? "began" : "ended", to == Side::read ? "began" : "ended");
  }
  return Ok{};
}

const RealTimeSweep::Moments& RealTimeSweep::responses(Side side) {
  Moments& moments = responses_[static_cast<int>(side)];
  if (moments.empty()) moments = collect(side, &Interval::response);
  return moments;
}

const RealTimeSweep::Moments& RealTimeSweep::requests(Side side) {
  Moments& moments = requests_[static_cast<int>(side)];
  if (moments.empty()) moments = collect(side, &Interval::request);
  return moments;
}

RealTimeSweep::Moments RealTimeSweep::collect(Side side, int64_t Interval::*end) const {
  Moments moments;
  for (TxnId t = 0; t < history_.txn_count(); ++t) {
    if (place_[static_cast<int>(side)][t] == kNone) continue;
    const int64_t time = time_of(history_, t, side).*end;
    if (time != Interval::kUnknown) moments.push_back({time, t});
  }
  std::sort(moments.begin(), moments.end(),
            [](const Moment& a, const Moment& b) { return a.time < b.time; });
  return moments;
}

}  // namespace assay::certify
