#include "watch/timestamp_watcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "explain/names.h"
#include "history/accesses.h"
#include "watch/moments.h"
#include "watch/session_news.h"
#include "watch/timestamp_evidence.h"

namespace assay::internal::watch {
namespace {

bool writes(const History& h, TxnId t) {
  for (OpId i = h.first_op(t); i < h.end_op(t); ++i)
    if (installs_version(h.op(i))) return true;
  return false;
}

bool runs_backwards(const History& h, TxnId t) {
  const int64_t start = h.start_ts(t), commit = h.commit_ts(t);
  return start != Interval::kUnknown && commit != Interval::kUnknown && commit < start;
}

}  // namespace

// --- lines

Status TimestampWatcher::add(const std::shared_ptr<const History>& piece) {
  if (Status can = can_watch_piece(*piece); !can.ok()) return can;
  const auto keyed = std::make_shared<KeyedPiece>(piece);
  for (TxnId t = 0; t < piece->txn_count(); ++t)
    if (Status s = take(keyed, t); !s.ok()) return s;
  for (const Event& event : piece->events())
    if (Status s = take_event(event); !s.ok()) return s;
  return decide_sealed();
}

Status TimestampWatcher::can_take(const History& h, TxnId t) const {
  if (Status can = can_watch_txn(h, t, options_.level); !can.ok()) return can;
  if (h.status(t) != TxnStatus::committed) return Ok{};
  if (h.start_ts(t) == Interval::kUnknown || (writes(h, t) && h.commit_ts(t) == Interval::kUnknown))
    return bad_input("expected \"start_ts\", and \"commit_ts\" of a transaction that writes",
                     h.line(t));
  return Ok{};
}

Placed TimestampWatcher::placed(const std::shared_ptr<KeyedPiece>& piece, TxnId t) {
  const History& h = *piece->history;
  const Interval begin = h.begin_time(t), end = h.end_time(t);
  if (begin.known()) now_ = std::max(now_, begin.request);
  if (end.known() && end.response != Interval::kOpen) now_ = std::max(now_, end.response);
  Placed p{piece, t, next_number_++, lines_.of(h.line(t)), h.status(t)};
  if (begin.known()) p.begin = begin.request;
  if (end.known() && p.status == TxnStatus::committed) p.end = end.response;
  p.writes = writes(h, t);
  p.start = h.start_ts(t);
  p.commit = p.writes ? h.commit_ts(t) : p.start;
  return p;
}

Status TimestampWatcher::take_session(const History& h, TxnId t, TimestampSession& session) {
  const Interval begin = h.begin_time(t), end = h.end_time(t);
  if (!begin.known()) return Ok{};
  if (begin.response < session.over)
    return bad_input(fmt::format("{} begins before the previous transaction of its session ended; "
                                 "expected the times of a session not to run backwards",
                                 h.name(t)),
                     h.line(t));
  session.over = std::max(session.over, begin.request);
  if (end.known()) session.over = std::max(session.over, end.request);
  const bool over = h.status(t) != TxnStatus::unknown && end.known();
  session.next = std::max(session.next, over ? end.response : begin.request);
  return Ok{};
}

Status TimestampWatcher::take(const std::shared_ptr<KeyedPiece>& piece, TxnId t) {
  const History& h = *piece->history;
  if (Status s = can_take(h, t); !s.ok()) return s;
  Placed p = placed(piece, t);
  TimestampSession& session = sessions_[HeldValue(h.session_name(h.session(t)))];
  if (Status s = take_session(h, t, session); !s.ok()) return s;
  p.session = &session;
  ++progress_.transactions;
  if (p.status == TxnStatus::aborted) return Ok{};
  const bool placeless = p.start == Interval::kUnknown || p.commit == Interval::kUnknown;
  if (placeless || runs_backwards(h, t)) return add_unplaced(*piece, p), Ok{};
  const bool committed = p.status == TxnStatus::committed;
  if (p.start < replay_.replayed()) {
    add_late(std::move(p));
    return Ok{};
  }
  const auto txn = std::make_shared<const Placed>(std::move(p));
  if (committed) {
    session.reported = txn;
    if (real_time()) ended_.push(txn);
  }
  // The session need not wait for a transaction of unknown outcome.
  if (committed) session.next_ts = std::max(session.next_ts, txn->commit);
  replay_.add(txn);
  return Ok{};
}

void TimestampWatcher::add_unplaced(KeyedPiece& piece, const Placed& p) {
  const History& h = *piece.history;
  if (runs_backwards(h, p.txn))
    report(p.name(),
           fmt::format("its commit_ts, {}, is before its start_ts, {}, so it has no place",
                       h.commit_ts(p.txn), p.start));
  const bool timed = real_time() && p.status == TxnStatus::unknown;
  replay_.add_unplaced(
      piece, p.txn,
      {p.name(), timed ? later(std::max(p.begin, now_), options_.settle) : Interval::kOpen});
}

// Adds a transaction whose start was already passed, since no further transaction was expected to
// start there.
void TimestampWatcher::add_late(Placed p) {
  p.missed_start = true;
  const auto txn = std::make_shared<const Placed>(std::move(p));
  using Kind = TimestampFault::Kind;
  const PlacedTxn& before = txn->session->reported;
  const bool committed = txn->status == TxnStatus::committed;
  if (committed && before != nullptr && txn->start < before->commit)
    fault({Kind::session, txn, before, kNone, kNone, {}});
  else if (real_time() && last_but_one_ != nullptr && last_but_one_->end < txn->begin &&
           txn->start < last_but_one_->commit)
    fault({Kind::real_time, txn, last_but_one_, kNone, kNone, {}});
  else
    report(txn->name(), "it was reported after transactions that started later had been decided");
  replay_.add(txn);
}

Status TimestampWatcher::take_event(const Event& event) {
  const auto news = session_news(event);
  if (!news.ok()) return news.error();
  if (!*news) return Ok{};
  TimestampSession& session = sessions_[(*news)->session];
  if ((*news)->ends) {
    session.next = session.next_ts = Interval::kOpen;
    return Ok{};
  }
  session.next = std::max(session.next, (*news)->at);
  session.next_ts = std::max(session.next_ts, (*news)->start_ts);
  now_ = std::max(now_, (*news)->at);
  return Ok{};
}

// --- deciding

int64_t TimestampWatcher::overdue() const { return less(now_, options_.lateness); }

int64_t TimestampWatcher::mark() const {
  int64_t next = Interval::kUnknown;
  if (options_.sessions > 0 && sessions_.size() >= options_.sessions) {
    next = Interval::kOpen;
    for (const auto& [name, session] : sessions_) next = std::min(next, session.next);
  }
  return std::max(next, overdue());
}

int64_t TimestampWatcher::sealed_by_real_time() {
  const int64_t sealed = mark();
  for (; !ended_.empty() && ended_.top()->end < sealed; ended_.pop()) {
    const PlacedTxn& t = ended_.top();
    if (latest_ == nullptr || latest_->commit <= t->commit)
      last_but_one_ = std::exchange(latest_, t);
    else if (last_but_one_ == nullptr || last_but_one_->commit < t->commit)
      last_but_one_ = t;
  }
  return last_but_one_ == nullptr ? Interval::kUnknown : last_but_one_->commit;
}

int64_t TimestampWatcher::sealed_by_sessions() const {
  if (sessions_.size() < options_.sessions) return Interval::kUnknown;
  int64_t next = Interval::kOpen;
  for (const auto& [name, session] : sessions_) next = std::min(next, session.next_ts);
  return next;
}

Status TimestampWatcher::decide_sealed() {
  replay_.advance(real_time() ? sealed_by_real_time() : sealed_by_sessions());
  return Ok{};
}

Status TimestampWatcher::finish() {
  replay_.finish();
  return Ok{};
}

const Progress& TimestampWatcher::progress() {
  progress_.decided = replay_.decided();
  progress_.buffered = replay_.waiting();
  progress_.kept = replay_.kept();
  progress_.live_keys = replay_.live_keys();
  if (real_time()) progress_.mark = mark();
  progress_.now = now_;
  return progress_;
}

// --- reports

void TimestampWatcher::fault(const TimestampFault& fault) {
  ++progress_.alarms;
  Result<Unexplained> what = evidence_of(fault, replay_, options_.level);
  if (!what.ok()) {
    what = Unexplained{fault.kind, fault.txn->name(), "", what.error().message, {}};
  }
  listener_.unexplained(std::move(*what));
}

void TimestampWatcher::saw_unplaced(const Placed& reader, OpId op, const Unplaced* writer) {
  const std::string seen = fmt::format("{} of {}", display_op(reader.history(), op), reader.name());
  if (writer == nullptr)
    return report(
        reader.name(),
        fmt::format("{} may have seen a write without a commit_ts; this key has too many of those",
                    seen));
  report(writer->name,
         fmt::format("{} saw its write, but it has no commit_ts, so its place is unknown", seen));
}

void TimestampWatcher::report(std::string about, std::string reason) {
  ++progress_.undecided;
  listener_.undecided({std::move(about), std::move(reason), now_, false});
}

}  // namespace assay::internal::watch
