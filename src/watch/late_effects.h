// Transactions of unknown outcome whose effect, if they had one, has its place in what is settled.
//
//   s1: { r(y,1) w(x,5) }?   its client never heard of it, and nobody has read x since
//   s2: { w(y,2) }           settled
//   s3: { r(x,5) }           comes long afterwards: s1 took effect, and was before s2
//
// Without more, s1 could not be put before s2 but by taking back everything that was settled since.
// So where it would stand is looked for at once, when nobody who ran with it is still to be
// reported: behind whom in the order everything that it saw is there, while nobody after that has
// looked at what it wrote before it was overwritten. There it is parked. The first who looks at one
// of the keys it wrote decides: who reads its value shows that it took effect, and then all of it
// did; anybody else shows that it did not, not there, and its place is looked for again in what
// follows. Who overwrites a key without a look shows nothing; that write of it is masked, and the
// others tell still. If all are masked its place is looked for again, and if what it saw is gone
// for good it had no effect.
//
// Several may have written a key; the last of them whose value is read masks those before it, and
// who is behind it had no effect there. A parked transaction must not have seen a key that another
// one wrote, nor share one with somebody who may be moved (rivals.h) and was before the place; and
// whoever may be moved from before it to behind it must not have to come first. So each may take
// effect whatever becomes of the others. One that had no effect at its first place is less likely
// to have one at all: it gives way to whoever saw a key without its write.
//
// Cost: for each transaction its operations, the writers of the keys that it read, and those of the
// order who ran with it; for an order with such transactions, its keys.
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

struct Parked {
  Member member;
  uint64_t behind = 0;  // the line; 0: before all
  // Keys of its piece that others wrote since, and nobody looked at before.
  std::vector<KeyId> masked = {};
  bool told = false;   // the chain has its place
  uint64_t place = 0;  // the larger the later
  bool moved = false;  // it stood elsewhere before, where it had no effect

  // Whether the operation writes what is seen of it if it took effect.
  bool shows(OpId i) const {
    const Operation op = member.piece->op(i);
    return installs_version(op) && std::ranges::count(masked, op.key) == 0;
  }
};
// A key that a parked transaction wrote, where others may write or wrote it too.
struct Masking {
  uint64_t number;  // of the transaction
  KeyId key;        // of its piece
};

class StateReader;
class StateWriter;

class LateEffects {
 public:
  bool empty() const { return parked_.empty(); }
  void park(Parked p);
  bool contains(uint64_t number) const { return parked_.contains(number); }
  const Parked& find(uint64_t number) const { return parked_.find(number)->second; }
  // Null if nobody of this line is parked.
  const Parked* find_line(uint64_t line) const;
  // Whose writes of the key show, by their places.
  std::span<const Masking> writers_of(const ValueView& key) const;
  // Who left the value that was seen; null if nobody.
  const Parked* explanation_of(const History& h, const Observation& seen) const;
  template <class F>
  void each(F f) const {
    for (const auto& [number, parked] : parked_) f(parked);
  }
  // How many keys show a write of it.
  size_t shown(uint64_t number) const;
  Parked take(uint64_t number);
  // Somebody behind `place` writes the key, and nobody looked: the writes before no longer show.
  std::vector<Masking> mask(const ValueView& key, uint64_t place);
  // Takes that back, unless the transaction is given up.
  void unmask(const Masking& m);
  // The chain has this place of it.
  void told(uint64_t number, uint64_t behind);
  // Those that are told and were reported before.
  std::vector<Member> take_told(int64_t reported);
  std::vector<Member> take_all();
  // Writes all of it down; into one that is empty.
  void save(StateWriter& w) const;
  void load(StateReader& r);

 private:
  void show(const HeldValue& key, const Masking& write);

  std::unordered_map<uint64_t, Parked> parked_;                                      // by number
  std::unordered_map<HeldValue, std::vector<Masking>, HeldHash, HeldEqual> by_key_;  // writers_of()
};

struct LatePlace {
  enum class Kind : uint8_t {
    here,   // behind the first `behind` of the order
    later,  // perhaps
    never,
  } kind = Kind::later;
  uint32_t behind = 0;
};

class LatePlaces {
 public:
  struct Order {
    const OrderAccesses& accesses;
    std::span<const Member> members;       // of the window
    std::span<const uint32_t> left;        // of these, whom the order leaves for later
    std::span<const RivalVersion> rivals;  // of the order
    const LiveState& before;               // the order
    const LateEffects& parked;
    std::span<const Parked> touched;       // by the order, and parked until then
    std::span<const Member* const> asked;  // whose place may be asked for
  };
  // What it refers to must outlive this.
  explicit LatePlaces(const Order& order);

  // Whoever is told a place here is kept apart from those that are asked about afterwards.
  LatePlace of(const Member& m);
  // The numbers of parked ones that gave way.
  const std::set<uint64_t>& gave_way() const { return gave_way_; }

 private:
  // The operation of the one at hand, and the key in the window; kNone: nobody there touches it.
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
      keys_;  // of those asked about, and in the window
  // Places of one who may be moved, and of the one behind whom.
  struct Mover {
    uint32_t from, behind;
    KeyId key;  // that both wrote
  };
  std::vector<Mover> movers_;
  std::vector<Touch> looks_, writes_;  // of the one at hand
  std::set<uint64_t> gave_way_;
  // The numbers of others who saw and who wrote a key, and stand here or stood here until they were
  // touched.
  struct Reserved {
    std::vector<uint64_t> looks, writes;
  };
  std::unordered_map<HeldValue, Reserved, HeldHash, HeldEqual> reserved_;
};

}  // namespace assay::internal::watch
