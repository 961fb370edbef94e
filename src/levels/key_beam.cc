// Orders of the operations on one key, found by going on with the best situations only: for values
// that were written again and again, and compare-and-sets that need them.
//
//   w(x,1) [0,9]   w(x,2) [1,5]   cas(x,1,3) [2,6]   r(x,2) [3,9]
//
// The search goes from response to response. A situation is the state of the key and which
// operations under way took effect. What has not taken effect when it has to respond does so now,
// after as many others as that needs: at 5 w(x,2), or w(x,1) and then w(x,2), or w(x,1), cas(x,1,3)
// and w(x,2). Three things keep the situations few:
//
//   free      when a write that expects nothing takes effect, every other such write under way can
//             have done so right before it, unseen. It owes nothing from then on, and may still be
//             used. Here w(x,1) owes nothing after w(x,2).
//   better    one situation is better than another in the same state if more reads took effect in
//             it, fewer writes were used up, and fewer of them owe something. Only the best are
//             kept.
//   supply    among the operations that expect a value and replace it, the k-th to respond needs
//             the value to be there k times by then: now, by a write under way that is not used up,
//             or by one requested until then. Else the situation has no future.
//
// At each response the best 32 situations go on: those in which compare-and-sets and reads took
// effect, and few writes were used up. When none is left, the search goes back 32 responses with
// four times as many, then 64 with sixteen times as many, and so on.
//
// Finding no order proves nothing. "Just in time" is Lowe's (2017); the count of supplies continues
// Gibbons and Korach's zones (1997). Cost: responses × situations × operations under way; of the
// operations that have a response, at most 64 may be under way at a time.

#include "levels/key_beam.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/hash.h"

namespace assay::internal {
namespace {

constexpr size_t kNarrowBeam = 32, kStepsBack = 32, kMostWidenings = 4, kMostUnderWay = 64;
constexpr uint64_t kFewBeamSituations = 20'000, kBeamSituationsAnOperation = 400;

class KeyBeam {
 public:
  KeyBeam(const KeyOperations& ops, Budget& budget)
      : ops_(ops), budget_(budget), producers_(ops.states()), mask_of_(ops.states()) {
    for (uint32_t i = 0; i < ops_.size(); ++i) {
      const Op& o = ops_.op(i);
      moments_ = std::max({moments_, o.call + 1, o.reply == kNone ? 0 : o.reply + 1});
    }
    op_at_.assign(moments_, kNone);
    for (uint32_t i = 0; i < ops_.size(); ++i) {
      const Op& o = ops_.op(i);
      op_at_[o.call] = i;
      if (o.reply != kNone) op_at_[o.reply] = i;
    }
    for (const uint32_t op : op_at_)
      if (op != kNone && ops_.op(op).state != kNone) note_producer(op);
    for (std::vector<uint32_t>& calls : producers_) std::sort(calls.begin(), calls.end());
  }

  Judgement run() {
    if (!assign_slots()) return {};
    most_ = kFewBeamSituations + kBeamSituationsAnOperation * ops_.size();
    layers_.push_back({1, 0, {Situated{}}});
    while (go_to_next_response()) {
      if (due_latest_ == kNone || ops_.op(due_).reply > ops_.op(due_latest_).reply)
        due_latest_ = due_;
      if (budget_.exhausted()) return out_of_budget();
      if (entered_ > most_) return {};
      if (answer()) continue;
      if (!go_back()) return {};
    }
    return Judgement::satisfied({false, sequence()});
  }

 private:
  using Op = KeyOperations::Op;
  using Slots = uint64_t;  // one bit for each operation under way

  // done: took effect, or was used up. owes: a write that expects no value and has not taken effect
  // yet.
  struct Situated {
    Slots done = 0, owes = 0;
    uint32_t state = 0;
    uint32_t trail = kNone;  // the steps that led to it
  };
  struct Layer {    // the situations after a response
    uint32_t next;  // the next moment
    size_t trails;
    std::vector<Situated> situations;
  };
  struct Trail {
    uint32_t op, before;
    uint32_t moment;  // the response that it is for
  };
  // Operations under way that expect the same state, by response.
  struct Demand {
    struct One {
      Slots slot;
      uint32_t supplies,
          rank;  // requests of producers until its response; how many of these it needs
    };
    uint32_t state = kNone;
    Slots producers = 0;
    std::vector<One> all;
  };
  struct Mask {
    uint64_t stamp = 0;
    Slots fits = 0;
  };

  Judgement out_of_budget() const {
    Judgement open = Judgement::unknown(budget_.reason());
    open.reason.detail = ops_.progress(due_latest_) + ": " + open.reason.detail;
    return open;
  }

  void note_producer(uint32_t op) {
    std::vector<uint32_t>& calls = producers_[ops_.op(op).state];
    if (calls.empty() || calls.back() != ops_.op(op).call) calls.push_back(ops_.op(op).call);
  }

  static bool asks_nothing(const Op& o) { return o.seen.accepts == Accepts::any; }
  Slots bit(uint32_t op) const { return Slots{1} << slot_[op]; }

  // Gives each operation a slot. If there is no slot left, operations of unknown outcome are left
  // out, as they need not take effect; false if another operation gets none.
  bool assign_slots() {
    slot_.assign(ops_.size(), kNoSlot);
    Slots used = 0;
    for (uint32_t m = 1; m < moments_; ++m) {
      const uint32_t op = op_at_[m];
      if (op == kNone) continue;
      if (m == ops_.op(op).reply) {
        used &= ~bit(op);
      } else if (~used != 0 &&
                 (ops_.op(op).certain || std::popcount(used) < int{kMostUnderWay / 4})) {
        slot_[op] = static_cast<uint8_t>(std::countr_one(used));
        used |= bit(op);
      } else if (ops_.op(op).certain) {
        return false;
      }
    }
    return true;
  }

  // Enters the requests before the next response. False if there is no response left.
  bool go_to_next_response() {
    const Layer& layer = layers_.back();
    current_ = layer.situations;
    Slots owing = 0;
    if (open_at_ != layer.next) open_anew(layer.next);
    for (now_ = layer.next; now_ < moments_; ++now_) {
      const uint32_t op = op_at_[now_];
      if (op == kNone) continue;
      const Op& o = ops_.op(op);
      if (now_ == o.reply) break;
      if (slot_[op] == kNoSlot) continue;
      open(op);
      if (o.certain && asks_nothing(o)) owing |= bit(op);
    }
    if (now_ >= moments_) return false;
    due_ = op_at_[now_];
    ++stamp_;
    for (Situated& s : current_) {
      s.owes |= owing;
      take_harmless(s);
    }
    list_demands();
    return true;
  }

  void open(uint32_t op) {
    const auto place = std::upper_bound(
        open_.begin(), open_.end(), op,
        [&](uint32_t a, uint32_t b) { return KeyOperations::goes_first(ops_.op(a), ops_.op(b)); });
    open_.insert(place, op);
    const Op& o = ops_.op(op);
    const Slots b = bit(op);
    (o.state == kNone  ? (o.seen.accepts == Accepts::equals ? reads_ : failures_)
     : asks_nothing(o) ? writes_
     : !o.certain      ? offers_
                       : updates_) |= b;
  }
  void close(uint32_t op) {
    open_.erase(std::find(open_.begin(), open_.end(), op));
    for (Slots* kind : {&reads_, &failures_, &writes_, &offers_, &updates_}) *kind &= ~bit(op);
  }
  // Collects the operations that are under way before this moment.
  void open_anew(uint32_t moment) {
    open_.clear();
    reads_ = failures_ = writes_ = offers_ = updates_ = 0;
    // The operations under way then are among those requested since the earliest request of any of
    // them.
    for (uint32_t m = moment == 0 ? 0 : earliest_call(moment); m < moment; ++m) {
      const uint32_t op = op_at_[m];
      if (op == kNone || slot_[op] == kNoSlot || ops_.op(op).call != m) continue;
      if (ops_.op(op).reply >= moment) open(op);
    }
    open_at_ = moment;
  }
  uint32_t earliest_call(uint32_t moment) {
    if (earliest_.empty()) {
      earliest_.assign(moments_ + 1, kNone);
      for (uint32_t m = moments_; m-- > 0;) {
        earliest_[m] = earliest_[m + 1];
        const uint32_t op = op_at_[m];
        if (op != kNone && ops_.op(op).reply == m)
          earliest_[m] = std::min(earliest_[m], ops_.op(op).call);
        if (op != kNone && ops_.op(op).reply == kNone) forever_ = std::min(forever_, m);
      }
    }
    return std::min({earliest_[moment], forever_, moment});
  }

  Slots fitting(uint32_t state) {
    Mask& mask = mask_of_[state];
    if (mask.stamp == stamp_) return mask.fits;
    mask = {stamp_, 0};
    for (const uint32_t op : open_)
      if (ops_.fits(ops_.op(op), state)) mask.fits |= bit(op);
    return mask.fits;
  }
  void take_harmless(Situated& s) { s.done |= fitting(s.state) & (reads_ | failures_); }

  // Lists operations that expect a value which may become rare. If several states show the value
  // (some read states its source, or nulls were both written and left by removals), one of the
  // states is counted on.
  void list_demands() {
    demands_.clear();
    for (const uint32_t op : open_) {
      const Op& o = ops_.op(op);
      const uint32_t wanted = o.certain ? ops_.wanted_by(o) : kNone;
      if (wanted == kNone) continue;
      auto demand = std::ranges::find(demands_, wanted, &Demand::state);
      if (demand == demands_.end()) demand = demands_.insert(demand, Demand{wanted, 0, {}});
      demand->all.push_back({bit(op), supplies(wanted, o.reply), takes(o)});
    }
    std::erase_if(demands_, [](const Demand& d) {
      uint32_t taken = 0;
      return std::ranges::all_of(d.all, [&](const Demand::One& one) {
        taken += one.rank;
        return one.supplies >= std::max(taken, 1u);
      });
    });
    for (Demand& demand : demands_)
      for (const uint32_t op : open_)
        if (ops_.op(op).state == demand.state) demand.producers |= bit(op);
  }
  uint32_t takes(const Op& o) const { return o.state != kNone && !ops_.fits(o, o.state) ? 1 : 0; }
  uint32_t supplies(uint32_t state, uint32_t until) const {
    const std::vector<uint32_t>& calls = producers_[state];
    const auto from = std::upper_bound(calls.begin(), calls.end(), now_);
    return static_cast<uint32_t>(std::lower_bound(from, calls.end(), until) - from);
  }
  bool has_no_future(const Situated& s) {
    for (const Demand& demand : demands_) {
      uint32_t there = static_cast<uint32_t>(std::popcount(demand.producers & ~s.done));
      there += (fitting(s.state) & demand.all.front().slot) != 0;
      uint32_t taken = 0;
      for (const Demand::One& one : demand.all) {
        if ((s.done & one.slot) != 0) continue;
        taken += one.rank;
        if (there + one.supplies < std::max(taken, 1u)) return true;
      }
    }
    return false;
  }

  // Lets `due_` take effect in every situation, and keeps the best of the resulting situations.
  // False if there are none.
  bool answer() {
    reached_.clear();
    work_.clear();
    known_.clear();
    for (const Situated& s : current_) enter(s, true);
    while (!work_.empty()) {
      const Situated s = work_.back();
      work_.pop_back();
      ++entered_;
      go_on(s);
      if (budget_.exhausted() || entered_ > most_) return true;  // run() reports this
    }
    keep_best();
    if (reached_.empty()) return false;
    const Slots gone = ~bit(due_);
    for (Situated& s : reached_) {
      s.done &= gone;
      s.owes &= gone;
    }
    close(due_);
    open_at_ = now_ + 1;
    layers_.push_back({now_ + 1, trails_.size(), reached_});
    if (layers_.size() > farthest_) widened_ = 0;
    return true;
  }

  // `paid`: the operation that is due no longer owes a value, or did not owe one. False if the
  // situation is useless.
  bool enter(const Situated& s, bool paid) {
    if (has_no_future(s)) return false;
    const Slots b = bit(due_);
    const bool done = (s.done & b) != 0;
    const bool answers = done || (asks_nothing(ops_.op(due_)) && paid && (s.owes & b) == 0);
    if (answers) reached_.push_back(s);
    const bool goes_on = !done && known_.insert(*this, s);
    if (goes_on) work_.push_back(s);
    return answers || goes_on;
  }

  // Lets one more operation take effect. Of operations with the same effect only the one that
  // responds first is tried; of writes also the first that owes a value, if that is another one.
  void go_on(const Situated& s) {
    const Slots fits = fitting(s.state);
    twins_.clear();
    for (const uint32_t op : open_) {
      const Op& o = ops_.op(op);
      const Slots b = bit(op);
      if (o.state == kNone || (s.done & b) != 0 || (fits & b) == 0) continue;
      const bool owes = (s.owes & b) != 0;
      const bool waits = std::ranges::any_of(
          twins_, [&](const Twin& t) { return t.twins == o.twins && (t.owes || !owes); });
      if (waits) continue;
      twins_.push_back({o.twins, owes || !asks_nothing(o)});
      Situated next = s;
      next.done |= b;
      next.state = o.state;
      if (asks_nothing(o)) next.owes = 0;
      next.trail = static_cast<uint32_t>(trails_.size());
      trails_.push_back({op, s.trail, now_});
      take_harmless(next);
      if (!enter(next, (s.owes & bit(due_)) != 0)) trails_.pop_back();
    }
  }

  bool is_better(const Situated& a, const Situated& b) const {
    const Slots harmless = reads_ | failures_;
    return a.state == b.state && ((a.done ^ b.done) & updates_) == 0 &&
           (b.done & ~a.done & harmless) == 0 && (a.done & ~b.done & (writes_ | offers_)) == 0 &&
           (a.owes & ~b.owes) == 0;
  }
  int penalty(const Situated& s) const {
    const auto count = [](Slots slots) { return std::popcount(slots); };
    return 20 * count(updates_ & ~s.done) + 10 * count(reads_ & ~s.done) +
           2 * count(failures_ & ~s.done) + 5 * count((writes_ | offers_) & s.done) +
           3 * count(s.owes);
  }

  void keep_best() {
    const size_t width = kNarrowBeam << (2 * widened_);
    ranked_.clear();
    for (uint32_t i = 0; i < reached_.size(); ++i) ranked_.push_back({penalty(reached_[i]), i});
    std::sort(ranked_.begin(), ranked_.end());
    known_.clear();
    kept_.clear();
    for (const Ranked& r : ranked_) {
      if (kept_.size() == width) break;
      if (known_.insert(*this, reached_[r.index])) kept_.push_back(reached_[r.index]);
    }
    reached_.swap(kept_);
  }

  // Goes back by some responses and continues from there with a wider beam. False if the limit of
  // widenings is reached.
  bool go_back() {
    if (layers_.size() > farthest_) widened_ = 0;
    farthest_ = std::max(farthest_, layers_.size());
    if (++widened_ > kMostWidenings) return false;
    const size_t back = std::min(layers_.size() - 1, kStepsBack << (widened_ - 1));
    layers_.resize(layers_.size() - back);
    trails_.resize(layers_.back().trails);
    open_at_ = kNone;
    return true;
  }

  // The operations in an order that explains them: at a response, the operations that took effect
  // for it, preceded by the unused writes under way before the first of them that expects no value;
  // operations that change nothing come as soon as they fit.
  std::vector<TxnId> sequence() {
    std::vector<Trail> path;
    for (uint32_t t = current_.front().trail; t != kNone; t = trails_[t].before)
      path.push_back(trails_[t]);
    std::reverse(path.begin(), path.end());
    std::vector<bool> used(ops_.size(), false);
    for (const Trail& t : path) used[t.op] = true;
    std::vector<TxnId> txns;
    std::vector<uint32_t> idle;  // requested and not used
    std::vector<uint32_t> harmless;
    uint32_t state = 0;
    const auto put = [&](uint32_t op) { txns.push_back(ops_.op(op).txn); };
    const auto put_harmless = [&] {
      std::erase_if(harmless, [&](uint32_t op) {
        const bool fits = ops_.fits(ops_.op(op), state);
        if (fits) put(op);
        return fits;
      });
    };
    size_t next = 0;
    for (uint32_t m = 0; m < moments_; ++m) {
      const uint32_t op = op_at_[m];
      if (op == kNone) continue;
      const Op& o = ops_.op(op);
      if (m == o.call) {
        if (o.state != kNone && o.certain && !used[op]) idle.push_back(op);
        if (o.state == kNone) harmless.push_back(op);
        put_harmless();
        continue;
      }
      for (; next < path.size() && path[next].moment == m; ++next) {
        const Op& taken = ops_.op(path[next].op);
        if (asks_nothing(taken)) {
          for (const uint32_t one : idle) put(one);
          idle.clear();
        }
        put(path[next].op);
        state = taken.state;
        put_harmless();
      }
    }
    return txns;
  }

  // Situations that were entered: a situation that is no better than one of them is skipped. Only
  // some are compared.
  class Known {
   public:
    void clear() {
      all_.clear();
      ++stamp_;
    }
    bool insert(const KeyBeam& beam, const Situated& s) {
      const uint64_t name = mix64(mix64(s.done & beam.updates_) + s.state);
      Head& head = heads_[name % heads_.size()];
      if (head.stamp != stamp_) head = {stamp_, kNone};
      size_t compared = 0;
      for (uint32_t i = head.first; i != kNone && compared < kMostCompared;
           i = all_[i].next, ++compared)
        if (beam.is_better(all_[i].situated, s)) return false;
      all_.push_back({s, head.first});
      head.first = static_cast<uint32_t>(all_.size() - 1);
      return true;
    }

   private:
    static constexpr size_t kMostCompared = 64;
    struct Head {
      uint64_t stamp = 0;
      uint32_t first = kNone;
    };
    struct Entry {
      Situated situated;
      uint32_t next;
    };
    std::array<Head, 4096> heads_{};
    std::vector<Entry> all_;
    uint64_t stamp_ = 1;
  };
  struct Twin {
    uint32_t twins;
    bool owes;
  };
  struct Ranked {
    int penalty;
    uint32_t index;
    auto operator<=>(const Ranked&) const = default;
  };
  static constexpr uint8_t kNoSlot = 255;

  const KeyOperations& ops_;
  Budget& budget_;
  uint32_t moments_ = 0;
  std::vector<uint32_t> op_at_;  // indexed by moment
  std::vector<std::vector<uint32_t>>
      producers_;                   // indexed by state: when writes that leave it are requested
  std::vector<uint8_t> slot_;       // indexed by operation
  std::vector<uint32_t> earliest_;  // indexed by moment: the first request of the operations that
                                    // respond from then on
  uint32_t forever_ = kNone;        // the first request without a response

  std::vector<Layer> layers_;
  std::vector<Trail> trails_;
  size_t farthest_ = 0, widened_ = 0;
  uint64_t entered_ = 0, most_ = 0;
  uint32_t due_latest_ = kNone;  // the response at which the search got furthest

  // The next members belong to the response that is being examined.
  uint32_t now_ = 0, due_ = kNone;
  std::vector<Situated> current_, reached_, kept_, work_;
  std::vector<Ranked> ranked_;
  std::vector<uint32_t> open_;  // operations under way, by response
  uint32_t open_at_ = 0;        // the moment for which open_ was collected
  // Operations under way: those that change nothing and saw a value, or saw that it was absent;
  // those that write and expect nothing; those that expect something and may take effect, or do.
  Slots reads_ = 0, failures_ = 0, writes_ = 0, offers_ = 0, updates_ = 0;
  std::vector<Demand> demands_;
  std::vector<Mask> mask_of_;  // indexed by state
  uint64_t stamp_ = 0;
  std::vector<Twin> twins_;
  Known known_;
};

}  // namespace

Judgement search_by_beam(const KeyOperations& ops, Budget& budget) {
  if (ops.size() == 0) return {};
  return KeyBeam(ops, budget).run();
}

}  // namespace assay::internal
