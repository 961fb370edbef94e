#include "history/contention.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <vector>

#include "base/sort_by.h"
#include "history/accesses.h"

namespace assay::internal {
namespace {

struct Touch {
  TxnId txn;
  bool writes;
};

// The furthest that a touch reached so far, and the furthest of another session.
class Furthest {
 public:
  void add(SessionId session, int64_t reach) {
    if (session == best_[0].session) {
      best_[0].reach = std::max(best_[0].reach, reach);
    } else if (best_[0].session == kNone || reach > best_[0].reach) {
      best_[1] = best_[0];
      best_[0] = {session, reach};
    } else if (best_[1].session == kNone || reach > best_[1].reach) {
      best_[1] = {session, reach};
    }
  }
  bool another_reaches(SessionId session, int64_t needed) const {
    const Reach& other = best_[best_[0].session == session];
    return other.session != kNone && other.reach >= needed;
  }

 private:
  struct Reach {
    SessionId session = kNone;
    int64_t reach = 0;
  };
  std::array<Reach, 2> best_;
};

// What committed transactions whose times are known do to each key, in the order of their begins.
class Touches {
 public:
  explicit Touches(const History& h) : h_(h) {
    std::vector<Numbered> begun;
    for (TxnId t = 0; t < h.txn_count(); ++t)
      if (h.status(t) == TxnStatus::committed && h.begin_time(t).known() && h.end_time(t).known())
        begun.push_back({h.begin_time(t).request, t});
    sort_numbered(begun);
    // Ranges look at all keys, which every write changes; they have a place of their own behind the keys.
    has_ranges_ = std::ranges::any_of(
        begun, [&](const Numbered& entry) { return any_op(entry.second, is_range); });
    begins_.assign(size_t{h.key_count()} + 2, 0);
    const auto all = [&](const auto& visit) {
      for (const auto& [time, t] : begun) each_touch(t, visit);
    };
    all([&](size_t key, Touch) { ++begins_[key + 1]; });
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    touches_.resize(begins_.back());
    std::vector<size_t> next(begins_.begin(), begins_.end() - 1);
    all([&](size_t key, Touch touch) { touches_[next[key]++] = touch; });
  }

  size_t keys() const { return begins_.size() - 1; }
  bool stands_for_ranges(size_t key) const { return key == h_.key_count(); }
  std::span<const Touch> of(size_t key) const {
    return std::span(touches_).subspan(begins_[key], begins_[key + 1] - begins_[key]);
  }

 private:
  template <class Holds>
  bool any_op(TxnId t, Holds holds) const {
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i)
      if (holds(h_.op(i))) return true;
    return false;
  }

  template <class Visit>
  void each_touch(TxnId t, const Visit& visit) const {
    const size_t all_keys = h_.key_count();
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
      const Operation op = h_.op(i);
      visit(is_range(op) ? all_keys : op.key, Touch{t, installs_version(op)});
    }
    if (has_ranges_ && any_op(t, installs_version)) visit(all_keys, Touch{t, true});
  }

  const History& h_;
  bool has_ranges_ = false;
  std::vector<size_t> begins_;  // per key, in touches_
  std::vector<Touch> touches_;
};

// Marks what meets a touch before it in this order. Of those, which all begin on one side of it, only how far the furthest
// reaches matters.
template <class Place, class Reach, class Needed>
void mark(const History& h, Place place, Place end, bool only_ranges, Reach reach, Needed needed,
          std::vector<uint8_t>& contended) {
  Furthest readers, writers;
  for (; place != end; ++place) {
    const Touch& touch = *place;
    const SessionId session = h.session(touch.txn);
    // That two transactions write something is no contention.
    const bool meets_writers = !touch.writes || !only_ranges;
    if ((touch.writes && readers.another_reaches(session, needed(touch.txn))) ||
        (meets_writers && writers.another_reaches(session, needed(touch.txn))))
      contended[touch.txn] = 1;
    (touch.writes ? writers : readers).add(session, reach(touch.txn));
  }
}

}  // namespace

uint64_t count_contended(const History& h) {
  const Touches touches(h);
  std::vector<uint8_t> contended(h.txn_count(), 0);
  const auto begin = [&](TxnId t) { return h.begin_time(t).request; };
  const auto end = [&](TxnId t) { return h.end_time(t).response; };
  for (size_t key = 0; key < touches.keys(); ++key) {
    const std::span<const Touch> all = touches.of(key);
    if (all.size() < 2) continue;
    const bool ranges = touches.stands_for_ranges(key);
    // Those that began before, and last until it begins; then those that began after, before it ends.
    mark(h, all.begin(), all.end(), ranges, end, begin, contended);
    mark(
        h, all.rbegin(), all.rend(), ranges, [&](TxnId t) { return -begin(t); },
        [&](TxnId t) { return -end(t); }, contended);
  }
  return static_cast<uint64_t>(std::count(contended.begin(), contended.end(), 1));
}

}  // namespace assay::internal
