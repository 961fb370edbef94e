#include "watch/timestamp_replay.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "history/value_hash.h"

namespace assay::internal::watch {
namespace {

// Further writes without a place are dropped.
constexpr size_t kMostOthers = 16;
// This many of the last begun transactions are examined one by one when one of them contradicts
// real time.
constexpr size_t kMostStarted = 64;

uint64_t what_was_seen(const History& h, const Observation& seen) {
  const bool value = seen.accepts == Accepts::equals || seen.accepts == Accepts::differs;
  return hash_value(value ? h.version_value(seen.version) : ValueView::null()) +
         static_cast<uint64_t>(seen.accepts);
}

bool leaves(const Placed& t, const History& h, const Observation& seen) {
  const History& own = t.history();
  if (t.status == TxnStatus::aborted) return false;
  for (OpId i = own.first_op(t.txn); i < own.end_op(t.txn); ++i) {
    if (!installs_version(own.op(i)) || own.key(own.op(i).key) != h.key(seen.key)) continue;
    const Install left = install_of(own, i);
    if (fits(h, seen, own.version_value(left.version), left.removes)) return true;
  }
  return false;
}

}  // namespace

bool TimestampReplay::Event::operator<(const Event& other) const {
  return std::tuple(other.time, other.rank, other.txn->number, other.write) <
         std::tuple(time, rank, txn->number, write);
}

TimestampKey& TimestampReplay::key(KeyedPiece& piece, KeyId key) {
  TimestampKey*& found = piece.keys[key];
  if (found == nullptr) found = &keys_[HeldValue(piece.history->key(key))];
  return *found;
}

void TimestampReplay::push(Event e) {
  events_.push_back(std::move(e));
  std::push_heap(events_.begin(), events_.end());
}

void TimestampReplay::add(PlacedTxn t) {
  ++waiting_;
  using Rank = Event::Rank;
  const bool instant = t->start == t->commit;
  if (!t->missed_start) push({t->start, instant ? Rank::instant : Rank::start, false, t});
  const int64_t commit = t->commit;
  push({commit, instant ? Rank::instant : Rank::commit, true, std::move(t)});
}

void TimestampReplay::add_unplaced(KeyedPiece& piece, TxnId txn, Unplaced u) {
  ++decided_;
  const auto writer = std::make_shared<Unplaced>(std::move(u));
  const History& h = *piece.history;
  for (OpId i = h.first_op(txn); i < h.end_op(txn); ++i) {
    if (!installs_version(h.op(i))) continue;
    TimestampKey& at = key(piece, h.op(i).key);
    const Install left = install_of(h, i);
    if (at.others.size() >= kMostOthers)
      at.more_others = true;
    else
      at.others.push_back({HeldValue(h.version_value(left.version)), left.removes, writer});
  }
}

void TimestampReplay::advance(int64_t time) {
  replayed_ = std::max(replayed_, time);
  while (!events_.empty() && events_.front().time < time) replay_next();
}

void TimestampReplay::finish() {
  while (!events_.empty()) replay_next();
}

void TimestampReplay::replay_next() {
  std::pop_heap(events_.begin(), events_.end());
  const Event next = std::move(events_.back());
  events_.pop_back();
  if (next.write)
    commit(next.txn);
  else
    start(next.txn);
}

// --- starts

// Replays a start. There is one alarm for one start, for its first fault.
void TimestampReplay::start(const PlacedTxn& t) {
  Found found = look(t);
  if (Found disorder = follow_session(t); !found) found = std::move(disorder);
  TimestampSession& session = *t->session;
  if (session.last == nullptr || session.last->number < t->number) session.last = t;
  if (t->status == TxnStatus::committed) session.open = t;
  if (Found overlap = take_keys(t); !found) found = std::move(overlap);
  if (found) listener_.fault(*found);
  // A wrong start is reported; if it is also early in real time, that is the same fault.
  if (found) std::erase(started_, found->txn);
  if (!found || found->txn != t) note_begin(t);
}

TimestampReplay::Found TimestampReplay::look(const PlacedTxn& t) {
  const History& h = t->history();
  if (own_.size() < h.key_count()) own_.resize(h.key_count());
  ++looks_;
  Found found;
  for (OpId i = h.first_op(t->txn); i < h.end_op(t->txn); ++i) {
    const Observation seen = observation_of(h, i);
    if (seen.accepts != Accepts::any && !found) {
      const auto& [look, own] = own_[seen.key];
      TimestampKey& at = key(*t->piece, seen.key);
      if (look != looks_)
        found = judge(t, seen, at);
      else if (!fits(h, seen, own))
        found = TimestampFault{TimestampFault::Kind::operation, t, t, i, seen.key, at.now};
    }
    if (installs_version(h.op(i))) own_[h.op(i).key] = {looks_, install_of(h, i).state()};
  }
  return found;
}

TimestampReplay::Found TimestampReplay::judge(const PlacedTxn& t, const Observation& seen,
                                              TimestampKey& key) {
  const History& h = t->history();
  const TimestampVersion& now = key.now;
  const bool fit =
      now.is_initial() ? fits(h, seen, KeyState{}) : fits(h, seen, now.value.view(), now.removed);
  if (fit || is_of_unplaced(*t, seen, key)) return {};
  const uint64_t instead = what_was_seen(h, seen);
  if (key.told == instead) return {};
  key.told = instead;
  return TimestampFault{TimestampFault::Kind::operation, t, nullptr, seen.op, seen.key, now};
}

bool TimestampReplay::is_of_unplaced(const Placed& t, const Observation& seen, TimestampKey& key) {
  for (const TimestampKey::Other& other : key.others) {
    if (!fits(t.history(), seen, other.value.view(), other.removed)) continue;
    if (!std::exchange(other.writer->told, true))
      listener_.saw_unplaced(t, seen.op, other.writer.get());
    return true;
  }
  if (key.more_others) listener_.saw_unplaced(t, seen.op, nullptr);
  return key.more_others;
}

// What follows a transaction of unknown outcome in its session need not wait for it.
TimestampReplay::Found TimestampReplay::follow_session(const PlacedTxn& t) const {
  constexpr auto kDisorder = OrderReplay::Fault::session;
  const TimestampSession& s = *t->session;
  if (t->status == TxnStatus::committed && s.last != nullptr && t->number < s.last->number)
    return TimestampFault{kDisorder, s.last, t, kNone, kNone, {}};
  if (s.open != nullptr && s.open->number < t->number)
    return TimestampFault{kDisorder, t, s.open, kNone, kNone, {}};
  return {};
}

TimestampReplay::Found TimestampReplay::take_keys(const PlacedTxn& t) {
  Found found;
  const History& h = t->history();
  for (OpId i = h.first_op(t->txn); i < h.end_op(t->txn); ++i) {
    if (!installs_version(h.op(i))) continue;
    PlacedTxn& writing = key(*t->piece, h.op(i).key).writing;
    if (writing != nullptr && writing != t && !found)
      found = TimestampFault{TimestampFault::Kind::overlap, t, writing, kNone, h.op(i).key, {}};
    writing = t;
  }
  return found;
}

void TimestampReplay::note_begin(const PlacedTxn& t) {
  if (level_.real_time != RealTime::all_but_begins) return;
  const auto at = std::ranges::upper_bound(started_, t->begin, {},
                                           [](const PlacedTxn& other) { return other->begin; });
  started_.insert(at, t);
  if (started_.size() > kMostStarted) started_.erase(started_.begin());
}

// --- commits

void TimestampReplay::commit(const PlacedTxn& t) {
  keep_real_time(t);
  const History& h = t->history();
  for (OpId i = h.first_op(t->txn); i < h.end_op(t->txn); ++i)
    if (installs_version(h.op(i))) install(*t, i);
  if (t->session->open == t) t->session->open = nullptr;
  --waiting_;
  ++decided_;
  keep(t);
}

// Checks that no transaction has started that began after this one had ended. One that did is
// reported once.
void TimestampReplay::keep_real_time(const PlacedTxn& t) {
  if (started_.empty() || t->missed_start || t->status != TxnStatus::committed) return;
  if (started_.back()->begin <= t->end) return;
  const PlacedTxn early = std::move(started_.back());
  started_.pop_back();
  listener_.fault({TimestampFault::Kind::real_time, early, t, kNone, kNone, {}});
}

void TimestampReplay::install(const Placed& t, OpId write) {
  const Install left = install_of(t.history(), write);
  TimestampKey& at = key(*t.piece, left.key);
  if (at.writing != nullptr && at.writing->number == t.number) at.writing = nullptr;
  // This one was reported too late.
  if (!at.now.is_initial() && at.now.commit > t.commit) return;
  at.now = {HeldValue(t.history().version_value(left.version)),
            left.removes,
            t.number,
            t.line,
            t.begin,
            t.end,
            t.start,
            t.commit};
  at.told.reset();
  if (at.others.empty()) return;
  std::erase_if(at.others,
                [&](const TimestampKey::Other& other) { return other.writer->over < t.begin; });
}

void TimestampReplay::keep(const PlacedTxn& t) {
  if (keep_ == 0) return;
  if (kept_.size() >= keep_) kept_.pop_front();
  kept_.push_back(t);
}

// --- kept transactions

PlacedTxn TimestampReplay::writer_of(const History& h, const Observation& seen) const {
  for (auto it = kept_.rbegin(); it != kept_.rend(); ++it)
    if (leaves(**it, h, seen)) return *it;
  for (const Event& e : events_)
    if (e.write && leaves(*e.txn, h, seen)) return e.txn;
  return nullptr;
}

PlacedTxn TimestampReplay::find(uint64_t number) const {
  for (auto it = kept_.rbegin(); it != kept_.rend(); ++it)
    if ((*it)->number == number) return *it;
  return nullptr;
}

}  // namespace assay::internal::watch
