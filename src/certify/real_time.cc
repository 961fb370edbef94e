#include "certify/real_time.h"

#include "base/sort_by.h"
#include "certify/refusal.h"

namespace assay::internal::certify {

Interval time_of(const History& history, TxnId t, Side side) {
  if (side == Side::read) return history.begin_time(t);
  if (history.status(t) == TxnStatus::committed) return history.end_time(t);
  return {history.begin_time(t).request, Interval::kUnknown};
}

namespace {

// Whether the two are at least `drift` apart; 0 means one clock. A difference of two times may need
// all 64 bits.
bool apart(int64_t response, int64_t request, int64_t drift) {
  return response < request && static_cast<uint64_t>(request) - static_cast<uint64_t>(response) >=
                                   static_cast<uint64_t>(drift);
}

}  // namespace

bool before_in_time(const History& history, TxnId from, Side from_side, TxnId to, Side to_side) {
  const int64_t response = time_of(history, from, from_side).response;
  const int64_t request = time_of(history, to, to_side).request;
  const int64_t drift = history.session(from) == history.session(to) ? 0 : history.clock_drift();
  return response != Interval::kUnknown && request != Interval::kUnknown &&
         apart(response, request, drift);
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

// Sweeps all sessions within the drift of their clocks; then each by its own clock.
Status RealTimeSweep::sweep(Side from, Side to) {
  const int64_t drift = history_.clock_drift();
  if (Status s = sweep(responses(from), requests(to), drift, from, to); !s.ok()) return s;
  if (drift == 0) return Ok{};
  const std::vector<Moments> done = by_session(responses(from));
  const std::vector<Moments> starts = by_session(requests(to));
  for (SessionId session = 0; session < history_.session_count(); ++session)
    if (Status s = sweep(done[session], starts[session], 0, from, to); !s.ok()) return s;
  return Ok{};
}

std::vector<RealTimeSweep::Moments> RealTimeSweep::by_session(const Moments& moments) const {
  std::vector<Moments> sessions(history_.session_count());
  for (const Moment& m : moments) sessions[history_.session(m.txn)].push_back(m);
  return sessions;
}

Status RealTimeSweep::sweep(const Moments& done, const Moments& starts, int64_t drift, Side from,
                            Side to) {
  const std::span<const uint32_t> from_place = place_[static_cast<int>(from)];
  const std::span<const uint32_t> to_place = place_[static_cast<int>(to)];
  size_t next = 0;
  TxnId last = kNone;  // of all that responded so far, the one latest in the order
  for (const Moment& start : starts) {
    for (; next < done.size() && apart(done[next].time, start.time, drift); ++next)
      if (last == kNone || from_place[done[next].txn] > from_place[last]) last = done[next].txn;
    // A transaction's r precedes its w, so it never blocks itself.
    if (last != kNone && from_place[last] > to_place[start.txn])
      return refuse("the order puts transaction {} before transaction {}, which {} before it {}",
                    history_.name(start.txn), history_.name(last),
                    from == Side::read ? "began" : "ended", to == Side::read ? "began" : "ended");
  }
  return Ok{};
}

const RealTimeSweep::Moments& RealTimeSweep::responses(Side side) {
  return responses_[static_cast<int>(side)].get([&] { return collect(side, &Interval::response); });
}

const RealTimeSweep::Moments& RealTimeSweep::requests(Side side) {
  return requests_[static_cast<int>(side)].get([&] { return collect(side, &Interval::request); });
}

RealTimeSweep::Moments RealTimeSweep::collect(Side side, int64_t Interval::*end) const {
  Moments moments;
  for (TxnId t = 0; t < history_.txn_count(); ++t) {
    if (place_[static_cast<int>(side)][t] == kNone) continue;
    const int64_t time = time_of(history_, t, side).*end;
    if (time != Interval::kUnknown) moments.push_back({time, t});
  }
  stable_sort_by(moments, [](const Moment& m) { return m.time; });
  return moments;
}

}  // namespace assay::internal::certify
