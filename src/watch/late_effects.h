// Transactions of unknown outcome whose effect, if any, has a place in the settled order.
//
//   s1: { r(y,1) w(x,5) }?   its client learned no outcome, and no transaction has read x since
//   s2: { w(y,2) }           settled
//   s3: { r(x,5) }           comes long afterwards: so s1 took effect, before s2
//
// Without further measures, s1 could be put before s2 only by taking back everything settled since.
// So its place is looked for at once, when all transactions that ran at the same time have been
// reported: a place in the order where all of its reads fit, and after which no transaction has
// read its writes before they were overwritten. With this place it becomes *late*. The first
// transaction that reads one of the keys it wrote decides: if it reads the late value, the late
// transaction took effect as a whole; otherwise it did not, at least not there, and its place is
// looked for again in what follows. A blind write of one of the keys decides nothing; it masks the
// late write of this key, and the other keys can still decide. If all are masked, the place is
// looked for again, and if its reads can never fit again it had no effect.
//
// Several may have written a key; if the value of the last of them is read, it masks those before
// it, and those after it had no effect there. A late transaction must not have read a key that
// another one wrote, nor share one with an earlier transaction that may be moved (rivals.h); and a
// transaction that may be moved past it must not have to come first. So each may take effect
// independently of the others. If a transaction had no effect at its first place, it is less likely
// to have one at all: it gives way to a transaction that read a key without its write.
//
// Cost: for each transaction its operations, the writers of the keys that it read, and the
// concurrent transactions of the order; for an order with such transactions, its keys.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "assay/history.h"
#include "history/accesses.h"
#include "watch/live_state.h"
#include "watch/member.h"
#include "watch/order_accesses.h"
#include "watch/rivals.h"

namespace assay::internal::watch {

struct LateTxn {
  Member member;
  uint64_t behind = 0;  // the line after which it has its place; 0: before all
  // Keys of its piece that other transactions have since overwritten blindly.
  std::vector<KeyId> masked = {};
  bool in_chain = false;  // whether the chain has its place
  uint64_t place = 0;     // the larger, the later
  bool moved = false;     // it was in another place before, where it had no effect

  // Whether the operation's write shows, provided that the transaction took effect.
  bool shows(OpId i) const {
    const Operation op = member.piece->op(i);
    return installs_version(op) && std::ranges::count(masked, op.key) == 0;
  }
};
// A late transaction's write of a key, which others may mask.
struct LateWrite {
  uint64_t number;  // number of the transaction
  KeyId key;        // in its piece
};

class StateReader;
class StateWriter;

class LateEffects {
 public:
  bool empty() const { return txns_.empty(); }
  void add(LateTxn p);
  bool contains(uint64_t number) const { return txns_.contains(number); }
  const LateTxn& find(uint64_t number) const { return txns_.find(number)->second; }
  // The late transaction with this line; null if there is none.
  const LateTxn* find_line(uint64_t line) const;
  // The late transactions whose writes of the key show, sorted by their places.
  std::span<const LateWrite> writers_of(const ValueView& key) const;
  // The late transaction that left the value that was read; null if there is none.
  const LateTxn* explanation_of(const History& h, const Observation& seen) const;
  template <class F>
  void each(F f) const {
    for (const auto& [number, late] : txns_) f(late);
  }
  // The number of keys of which a write of this transaction shows.
  size_t shown(uint64_t number) const;
  LateTxn take(uint64_t number);
  // To be called when a transaction after `place` writes the key blindly: earlier late writes of
  // the key no longer show.
  std::vector<LateWrite> mask(const ValueView& key, uint64_t place);
  // Takes that back, unless the late transaction has been given up.
  void unmask(const LateWrite& m);
  // Notes that the chain has this place of the transaction.
  void note_in_chain(uint64_t number, uint64_t behind);
  // Takes the transactions in the chain that were reported before this moment.
  std::vector<Member> take_in_chain(int64_t reported);
  std::vector<Member> take_all();
  // Saves everything; to be loaded into an empty object.
  void save(StateWriter& w) const;
  void load(StateReader& r);

 private:
  void show(const HeldValue& key, const LateWrite& write);

  std::unordered_map<uint64_t, LateTxn> txns_;  // by number
  // See writers_of().
  std::unordered_map<HeldValue, std::vector<LateWrite>, HeldHash, HeldEqual> by_key_;
};

struct LatePlace {
  enum class Kind : uint8_t {
    here,   // after the first `behind` transactions of the order
    later,  // possibly later
    never,
  } kind = Kind::later;
  uint32_t behind = 0;
};

class LatePlaces {
 public:
  struct Order {
    const OrderAccesses& accesses;
    std::span<const Member> members;       // of the window
    std::span<const uint32_t> left;        // those members that the order leaves for later
    std::span<const RivalVersion> rivals;  // of the order
    const LiveState& before;               // the state before the order
    const LateEffects& late;
    std::span<const LateTxn> touched;      // touched by the order, and late until then
    std::span<const Member* const> asked;  // transactions for whose places the caller may ask
  };
  // The members of `order` must outlive this.
  explicit LatePlaces(const Order& order);

  // Finds a place. A transaction that gets one here is kept apart from the transactions that are
  // asked about later.
  LatePlace of(const Member& m);
  // The numbers of late transactions that gave way.
  const std::set<uint64_t>& gave_way() const { return gave_way_; }

 private:
  // An operation of the current transaction, and its key in the window; kNone: no transaction there
  // touches the key.
  struct Touch {
    OpId op;
    KeyId key;
  };

  const Member& at(uint32_t place) const;
  uint32_t end() const { return static_cast<uint32_t>(order_.accesses.order().size()); }
  bool touch(const Member& m);
  bool must_come_first(const Member& other, const Member& m) const;
  bool is_barred(const Member& m) const;
  uint32_t lower_bound(const Member& m) const;
  std::optional<uint32_t> earliest(const History& h, uint32_t from) const;
  std::optional<uint32_t> first_fit(const History& h, const Touch& look, uint32_t from) const;
  uint32_t first_unseen(const Touch& write, uint32_t from) const;
  std::span<const OrderAccess> accesses_of(KeyId key) const;
  std::vector<uint32_t> next_masks(uint32_t behind) const;
  bool fits_before(const History& h, const Touch& look) const;
  bool fits_left_by(const History& h, const Touch& look, uint32_t place) const;
  bool may_come(const History& h, const Touch& look) const;
  bool touches(uint32_t place, KeyId key) const;
  std::optional<uint32_t> in_the_way(const Member& m, uint32_t behind) const;
  bool is_apart(const Member& m, uint32_t behind) const;
  void reserve(const Member& m);

  const Order order_;
  std::unordered_map<ValueView, KeyId, HeldHash, HeldEqual>
      keys_;  // of the transactions asked about, and in the window
  // The places of a transaction that may be moved, and of the one after which it moves.
  struct Mover {
    uint32_t from, behind;
    KeyId key;  // the key that both wrote
  };
  std::vector<Mover> movers_;
  std::vector<Touch> looks_, writes_;  // of the current transaction
  std::set<uint64_t> gave_way_;
  // The numbers of other transactions that read a key, and that wrote it, and have a place here or
  // had one until they were touched.
  struct Reserved {
    std::vector<uint64_t> looks, writes;
  };
  std::unordered_map<HeldValue, Reserved, HeldHash, HeldEqual> reserved_;
};

}  // namespace assay::internal::watch
