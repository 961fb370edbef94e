#include "watch/fence_clock.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "history/accesses.h"

namespace assay::internal::watch {
namespace {

// A fence that has not been read for this long no longer bounds anything.
constexpr size_t kMostPlaces = 65'536;
// Time between two fences of a history without times.
constexpr int64_t kNanosecondsBetween = 1'000'000;

}  // namespace

KeyId FenceClock::fence_key(const History& h) const {
  for (KeyId key = 0; key < h.key_count(); ++key)
    if (h.key(key).to_string() == key_) return key;
  return kNone;
}

// The value that the transaction read of the key before its write, and the value that it left.
// nullopt if it is not a fence.
std::optional<FenceClock::Link> FenceClock::link_of(const History& h, TxnId t, KeyId key) {
  if (key == kNone || h.status(t) == TxnStatus::aborted) return std::nullopt;
  VersionId read = kNone, written = kNone;
  for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
    const Observation seen = observation_of(h, i);
    if (seen.key == key && written == kNone && seen.accepts == Accepts::equals) read = seen.version;
    const Operation op = h.op(i);
    if (op.key == key && installs_version(op)) written = op.version;
  }
  if (read == kNone || written == kNone) return std::nullopt;
  return Link{HeldValue(h.version_value(read)), HeldValue(h.version_value(written)),
              h.is_initial(read)};
}

void FenceClock::add(const std::shared_ptr<const History>& piece) {
  const History& h = *piece;
  const KeyId key = fence_key(h);
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    Session& session = sessions_[HeldValue(h.session_name(h.session(t)))];
    const uint64_t number = reported_++;
    session.txns.push_back({piece, t, number, std::exchange(session.last, number)});
    ++waiting_;
    std::optional<Link> link = link_of(h, t, key);
    if (!link) continue;
    const bool committed = h.status(t) == TxnStatus::committed;
    add_fence(*link, {&session, number, committed, h.begin_time(t), std::move(link->written)});
  }
}

void FenceClock::add_fence(const Link& link, Unplaced fence) {
  if (link.from_initial) return place(first_, std::move(fence));
  const auto at = places_.find(link.read);
  if (at != places_.end()) return place(at->second, std::move(fence));
  unplaced_[link.read].push_back(std::move(fence));
  if (unplaced_.size() > kMostPlaces) forget_passed();
}

// Forgets transactions whose session has since run a fence that has a place.
void FenceClock::forget_passed() {
  for (auto it = unplaced_.begin(); it != unplaced_.end();) {
    std::erase_if(it->second, [](const Unplaced& f) {
      return f.session->txns.empty() || f.session->txns.front().number > f.number;
    });
    it = it->second.empty() ? unplaced_.erase(it) : std::next(it);
  }
}

// Places the fence, then all fences that wait for it, then the fences that wait for these, and so
// on.
void FenceClock::place(Place& at, Unplaced fence) {
  struct Next {
    Unplaced fence;
    int64_t after;
    bool bounds;
  };
  const auto next = [](Place& behind, Unplaced f) {
    const bool bounds = f.committed && !behind.is_taken;
    behind.is_taken = behind.is_taken || bounds;
    return Next{std::move(f), behind.time, bounds};
  };
  std::vector<Next> open;
  open.push_back(next(at, std::move(fence)));
  while (!open.empty()) {
    const Next n = std::move(open.back());
    open.pop_back();
    const Interval begin = n.fence.begin;
    const int64_t time =
        begin.known() ? std::max(n.after + 1, begin.request) : n.after + kNanosecondsBetween;
    if (n.bounds) release(*n.fence.session, n.fence.number, time);
    note_place(n.fence.written, time);
    const auto waiting = unplaced_.find(n.fence.written);
    if (waiting == unplaced_.end()) continue;
    Place& here = places_.find(n.fence.written)->second;
    for (Unplaced& f : waiting->second) open.push_back(next(here, std::move(f)));
    unplaced_.erase(waiting);
  }
}

void FenceClock::note_place(const HeldValue& written, int64_t time) {
  if (!places_.emplace(written, Place{time}).second) return;
  in_order_.push_back(written);
  if (in_order_.size() <= kMostPlaces) return;
  places_.erase(in_order_.front());
  in_order_.pop_front();
}

// Releases the transactions up to the fence itself, by which they are over. Not if the session was
// at a later fence before: such a pair is a violation, and bounds nothing.
void FenceClock::release(Session& session, uint64_t last, int64_t until) {
  if (session.txns.empty() || session.txns.front().number > last || until <= session.since) return;
  while (!session.txns.empty() && session.txns.front().number <= last) {
    Txn& t = session.txns.front();
    const bool is_fence = t.number == last;
    timed_.push_back(
        {std::move(t.piece), t.txn, is_fence ? until : session.since, until, t.number, t.before});
    session.txns.pop_front();
    --waiting_;
  }
  session.since = until;
}

std::vector<FenceClock::Timed> FenceClock::take() { return std::exchange(timed_, {}); }

void FenceClock::end(const ValueView& session) {
  const auto it = sessions_.find(session);
  if (it == sessions_.end()) return;
  for (Txn& t : it->second.txns)
    timed_.push_back(
        {std::move(t.piece), t.txn, it->second.since, Interval::kOpen, t.number, t.before});
  waiting_ -= it->second.txns.size();
  it->second.txns.clear();
}

void FenceClock::end_all() {
  for (const auto& [name, session] : sessions_) end(name.view());
}

uint64_t FenceClock::first_waiting() const {
  uint64_t first = kNoneWaits;
  for (const auto& [name, session] : sessions_)
    if (!session.txns.empty()) first = std::min(first, session.txns.front().number);
  return first;
}

}  // namespace assay::internal::watch
