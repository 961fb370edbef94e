#include "history/contention.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

namespace assay::internal {
namespace {

// Stands for all keys, which a range looks at and every write changes.
constexpr KeyId kAnyKey = kNone;

struct Touch {
  KeyId key;
  bool writes;
  TxnId txn;
  SessionId session;
  int64_t begin, end;
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

std::vector<Touch> touches_of(const History& h) {
  std::vector<Touch> touches;
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    const Interval begin = h.begin_time(t), end = h.end_time(t);
    if (h.status(t) != TxnStatus::committed || !begin.known() || !end.known()) continue;
    const auto touch = [&](KeyId key, bool writes) {
      touches.push_back({key, writes, t, h.session(t), begin.request, end.response});
    };
    bool wrote = false;
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
      const Operation op = h.op(i);
      const bool writes = installs_version(op);
      touch(op.kind == OpKind::range ? kAnyKey : op.key, writes);
      wrote = wrote || writes;
    }
    if (wrote) touch(kAnyKey, true);
  }
  std::sort(touches.begin(), touches.end(), [](const Touch& a, const Touch& b) {
    return std::tie(a.key, a.begin, a.txn, a.writes) < std::tie(b.key, b.begin, b.txn, b.writes);
  });
  return touches;
}

// Marks what meets a touch before it in this order. Of those, which all begin on one side of it, only how far the furthest
// reaches matters.
template <class Touches, class Reach, class Needed>
void mark(const Touches& touches, Reach reach, Needed needed, std::vector<uint8_t>& contended) {
  Furthest readers, writers;
  KeyId key = kAnyKey;
  for (const Touch& touch : touches) {
    if (touch.key != key) readers = writers = Furthest();
    key = touch.key;
    // That two transactions write something is no contention.
    const bool meets_writers = !touch.writes || key != kAnyKey;
    if ((touch.writes && readers.another_reaches(touch.session, needed(touch))) ||
        (meets_writers && writers.another_reaches(touch.session, needed(touch))))
      contended[touch.txn] = 1;
    (touch.writes ? writers : readers).add(touch.session, reach(touch));
  }
}

}  // namespace

uint64_t count_contended(const History& h) {
  std::vector<Touch> touches = touches_of(h);
  std::vector<uint8_t> contended(h.txn_count(), 0);
  // Those that began before, and last until it begins; then those that began after, before it ends.
  mark(
      touches, [](const Touch& t) { return t.end; }, [](const Touch& t) { return t.begin; },
      contended);
  std::reverse(touches.begin(), touches.end());
  mark(
      touches, [](const Touch& t) { return -t.begin; }, [](const Touch& t) { return -t.end; },
      contended);
  return static_cast<uint64_t>(std::count(contended.begin(), contended.end(), 1));
}

}  // namespace assay::internal
