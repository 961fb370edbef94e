// Derives the times of transactions from fences: transactions that read and write one key, which
// every session runs now and then.
//
//   s1: { w(x,1) }  fence { r(f,0) w(f,1) }  { r(y,0) }               fence { r(f,2) w(f,3) }
//   s2:                                 fence { r(f,1) w(f,2) }  { w(y,5) }
//
// Each fence reads the value of another one, and two that read the same value cannot both be
// serialized: so fences have one order, 0 → 1 → 2 → 3. With session order, x = 1 was written before
// y = 5: s1 ran a fence afterwards, which precedes the first fence of s2. So a transaction ran
// between its session's fences before and after it, and these are times: a transaction that ended
// before another one began precedes it in every order that keeps session order. At
// session-serializable these times serve as well as those of clients.
//
// A fence has a place once the one that it read from has, whichever line comes first. A fence of
// unknown outcome bounds nothing, since its effect may come late or never; but a fence that reads
// its value follows it. A fence that reads the same value as another committed fence bounds nothing
// either: such a pair is a violation, which is found like any other.
//
// Times are those of the clients' clocks as far as these rise along the order of fences: options in
// seconds (`--settle`) refer to these; without client times, fences are a millisecond apart.
//
// Cost: for each transaction the look-up of its session, for each fence that of a value. Memory:
// the transactions since the last fence of each session, and the places of the last fences. Source:
// the fences of Cobra (Tan et al., 2020), where they number epochs.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "assay/history.h"
#include "history/held_value.h"

namespace assay::internal::watch {

class FenceClock {
 public:
  // When a transaction ran: not before `from`, and over by `until`; Interval::kOpen: the end is not
  // known.
  struct Timed {
    std::shared_ptr<const History> piece;
    TxnId txn = kNone;
    int64_t from = 0, until = Interval::kOpen;
    uint64_t number = 0, before = 0;  // in the order of lines; that of the previous line of its
                                      // session
  };

  // `key`: the name of the fences' key, an integer or a text.
  explicit FenceClock(std::string key) : key_(std::move(key)) {}

  // Adds the next transactions of the history; those of a session in its order.
  void add(const std::shared_ptr<const History>& piece);
  // Takes the transactions whose times are known by now; those of a session in its order.
  std::vector<Timed> take();
  // The session reports nothing more: what it did after its last fence has no end.
  void end(const ValueView& session);
  void end_all();

  // Transactions that wait for the next fence of their session, and the one of these that was
  // reported first; kNoneWaits: none does.
  uint64_t waiting() const { return waiting_; }
  uint64_t first_waiting() const;
  uint64_t reported() const { return reported_; }
  static constexpr uint64_t kNoneWaits = UINT64_MAX;

 private:
  // A transaction that waits.
  struct Txn {
    std::shared_ptr<const History> piece;
    TxnId txn = kNone;
    uint64_t number = 0, before = 0;
  };
  struct Session {
    int64_t since = 0;  // its last fence that has a place
    uint64_t last = 0;  // number of its last transaction
    std::deque<Txn> txns;
  };
  // What a fence read and wrote.
  struct Link {
    HeldValue read, written;
    bool from_initial = false;  // it read what the key held at first
  };
  // A fence that waits for the place of the one it read from.
  struct Unplaced {
    Session* session;
    uint64_t number;
    bool committed;
    Interval begin;  // by the client's clock
    HeldValue written;
  };
  struct Place {
    int64_t time = 0;
    bool is_taken = false;  // a committed fence has read it
  };
  using Values = std::unordered_map<HeldValue, Place, HeldHash, HeldEqual>;

  KeyId fence_key(const History& h) const;
  static std::optional<Link> link_of(const History& h, TxnId t, KeyId key);
  void add_fence(const Link& link, Unplaced fence);
  void place(Place& at, Unplaced fence);
  void note_place(const HeldValue& written, int64_t time);
  void release(Session& session, uint64_t last, int64_t until);
  void forget_passed();

  std::string key_;
  std::unordered_map<HeldValue, Session, HeldHash, HeldEqual> sessions_;
  Place first_;                     // before all fences
  Values places_;                   // by the value that the fence wrote
  std::deque<HeldValue> in_order_;  // the values of `places_`, in the order in which they were
                                    // found
  std::unordered_map<HeldValue, std::vector<Unplaced>, HeldHash, HeldEqual>
      unplaced_;  // by the value that the fences read
  std::vector<Timed> timed_;
  uint64_t waiting_ = 0;
  uint64_t reported_ = 0;
};

}  // namespace assay::internal::watch
