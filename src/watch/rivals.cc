#include "watch/rivals.h"

#include <algorithm>

#include "history/accesses.h"

namespace assay::internal::watch {
namespace {

// More of one key are not told apart.
constexpr size_t kMostRivals = 8;

// What a transaction of the order did with a key.
struct Access {
  KeyId key;
  uint32_t place;  // in the order
  bool looked = false;
  bool wrote = false;
};

class RivalSearch {
 public:
  RivalSearch(const Window& w, std::span<const Member> members, std::span<const TxnId> order)
      : w_(w),
        h_(w.history),
        members_(members),
        order_(order),
        moves_(order.size(), false),
        stays_(order.size(), false) {
    for (uint32_t place = 0; place < order.size(); ++place) add(place);
  }

  std::vector<RivalVersion> run() {
    by_key_ = accesses_;
    std::ranges::stable_sort(by_key_, {}, &Access::key);
    for (size_t begin = 0; begin < by_key_.size();) {
      size_t end = begin + 1;
      while (end < by_key_.size() && by_key_[end].key == by_key_[begin].key) ++end;
      rivals_of({by_key_.data() + begin, end - begin});
      begin = end;
    }
    return std::move(found_);
  }

 private:
  static bool is_blind(const Access& a) { return a.wrote && !a.looked; }

  void add(uint32_t place) {
    const size_t first = accesses_.size();
    starts_.push_back(first);
    const TxnId t = order_[place];
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
      const KeyId key = h_.op(i).key;
      const auto at = std::find_if(accesses_.begin() + static_cast<std::ptrdiff_t>(first),
                                   accesses_.end(), [&](const Access& a) { return a.key == key; });
      Access& a = at == accesses_.end() ? accesses_.emplace_back(Access{key, place}) : *at;
      // What it wrote itself tells nothing of others.
      if (observation_of(h_, i).accepts != Accepts::any && !a.wrote) a.looked = true;
      if (installs_version(h_.op(i))) a.wrote = true;
    }
  }

  std::span<const Access> accesses_of(uint32_t place) const {
    const size_t end = place + 1 < starts_.size() ? starts_[place + 1] : accesses_.size();
    return {accesses_.data() + starts_[place], end - starts_[place]};
  }
  const Member& member(uint32_t place) const { return members_[w_.members[order_[place]]]; }

  // Of one key, in order.
  void rivals_of(std::span<const Access> all) {
    if (all.size() < 2 || !is_blind(all.back())) return;
    const uint32_t last = all.back().place;
    size_t rivals = 0;
    for (size_t i = all.size() - 1; i-- > 0 && rivals < kMostRivals && is_blind(all[i]);) {
      const uint32_t place = all[i].place;
      if (stays_[place] || moves_[last] || !can_move(place, last, all[i].key)) continue;
      moves_[place] = stays_[last] = true;
      found_.push_back({all[i].key, version(place, all[i].key), order_[place], order_[last]});
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
           h_.session(order_[earlier]) == h_.session(order_[later]);
  }

  // Whether they touch a key in common, but for blind writes of `key`.
  bool meet(uint32_t a, uint32_t b, KeyId key) const {
    for (const Access& x : accesses_of(a))
      for (const Access& y : accesses_of(b)) {
        if (x.key != y.key) continue;
        if (x.key != key || !is_blind(y)) return true;
      }
    return false;
  }

  // What it left of the key.
  LiveState::Version version(uint32_t place, KeyId key) const {
    const TxnId t = order_[place];
    for (OpId i = h_.end_op(t); i-- > h_.first_op(t);) {
      if (!installs_version(h_.op(i)) || h_.op(i).key != key) continue;
      const Install install = install_of(h_, i);
      return {Held(h_.version_value(install.version)), install.removes};
    }
    return {Held(h_.key(key))};
  }

  const Window& w_;
  const History& h_;
  std::span<const Member> members_;
  std::span<const TxnId> order_;
  std::vector<Access> accesses_;  // in order
  std::vector<size_t> starts_;    // per place
  std::vector<Access> by_key_;
  std::vector<bool> moves_;  // per place: it may be moved
  std::vector<bool> stays_;  // others may be moved behind it
  std::vector<RivalVersion> found_;
};

}  // namespace

std::vector<RivalVersion> find_rivals(const Window& window, std::span<const Member> members,
                                      std::span<const TxnId> order) {
  return RivalSearch(window, members, order).run();
}

}  // namespace assay::internal::watch
