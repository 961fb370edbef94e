#include "watch/rivals.h"

#include <algorithm>

#include "history/accesses.h"

namespace assay::internal::watch {
namespace {

// More rivals of one key are dropped.
constexpr size_t kMostRivals = 8;

class RivalSearch {
 public:
  RivalSearch(const OrderAccesses& order, std::span<const Member> members)
      : order_(order),
        h_(order.window().history),
        members_(members),
        moves_(order.order().size(), false),
        stays_(order.order().size(), false) {}

  std::vector<RivalVersion> run() {
    for (KeyId key = 0; key < h_.key_count(); ++key) rivals_of(order_.of_key(key));
    return std::move(found_);
  }

 private:
  TxnId txn(uint32_t place) const { return order_.order()[place]; }
  const Member& member(uint32_t place) const {
    return members_[order_.window().members[txn(place)]];
  }

  // Finds the rivals of one key, given its accesses in order.
  void rivals_of(std::span<const OrderAccess> all) {
    if (all.size() < 2 || !all.back().is_blind()) return;
    const uint32_t last = all.back().place;
    size_t rivals = 0;
    for (size_t i = all.size() - 1; i-- > 0 && rivals < kMostRivals && all[i].is_blind();) {
      const uint32_t place = all[i].place;
      if (stays_[place] || moves_[last] || !can_move(place, last, all[i].key)) continue;
      moves_[place] = stays_[last] = true;
      found_.push_back({all[i].key, version(place, all[i].key), place, last});
      ++rivals;
    }
  }

  bool can_move(uint32_t from, uint32_t behind, KeyId key) const {
    for (uint32_t place = from + 1; place <= behind; ++place)
      if (must_follow(place, from) || meet(from, place, key)) return false;
    return true;
  }

  bool must_follow(uint32_t later, uint32_t earlier) const {
    return member(earlier).end < member(later).begin ||
           h_.session(txn(earlier)) == h_.session(txn(later));
  }

  // Whether the transactions touch a key in common, other than by blind writes of `key`.
  bool meet(uint32_t a, uint32_t b, KeyId key) const {
    for (const OrderAccess& x : order_.of_place(a))
      for (const OrderAccess& y : order_.of_place(b)) {
        if (x.key != y.key) continue;
        if (x.key != key || !y.is_blind()) return true;
      }
    return false;
  }

  // The version of the key that the transaction left.
  LiveState::Version version(uint32_t place, KeyId key) const {
    const KeyState left = state_left_by(h_, txn(place), key);
    return {HeldValue(h_.version_value(left.version)), left.removed};
  }

  const OrderAccesses& order_;
  const History& h_;
  std::span<const Member> members_;
  std::vector<bool> moves_;  // indexed by place: it may be moved
  std::vector<bool> stays_;  // indexed by place: others may be moved after it
  std::vector<RivalVersion> found_;
};

}  // namespace

std::vector<RivalVersion> find_rivals(const OrderAccesses& order, std::span<const Member> members) {
  return RivalSearch(order, members).run();
}

}  // namespace assay::internal::watch
