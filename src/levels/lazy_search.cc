// Orders of the operations on one key in which nothing changes the state before it has to.
//
//   s1: w(x,1) [0,9]   s2: w(x,2) [2,5]   s3: r(x,2) [6,8]   s4: r(x,1) [7,12]
//
// The search goes from response to response. Operations that change nothing take effect as soon as
// they fit; an operation that has not taken effect when it has to respond, or when a read that
// needs it has to, takes effect
//
//   now      and leaves the new state. w(x,2) at 5 is the first
//   before   right before the write that left the present state, if that came after its request.
//            Only operations that waited for it see it there, and the state stays as it is. At 9,
//            w(x,1) goes before the write in force if that was written after 0; then x = 2 still
//            holds
//
// This disposes of writes whose values were never needed. All that is left to choose, once per
// response, is whether the state changes. The state that is read again sooner is preferred.
// Compare-and-sets that fit take effect at the latest when the state they fit is about to be
// overwritten. Choices that fail are undone, the last one first, and no situation is entered twice:
// what took effect, the present state, the one before it, and since when.
//
// This finds an order of nearly every register that was linearizable, however many operations
// overlap. Finding none proves nothing. The rule that a read takes effect at once is Wing and
// Gong's (1993), "just in time" Lowe's (2017). Cost: responses × operations under way, times the
// decisions taken back.

#include "levels/lazy_search.h"

#include <algorithm>

#include "base/hash.h"
#include "base/sort_by.h"
#include "levels/situation_set.h"

namespace assay::internal {
namespace {

constexpr uint64_t kSituationsAnOperation = 20, kFewSituations = 1000;

class LazySearch {
 public:
  LazySearch(KeyOperations& ops, Budget& budget)
      : ops_(ops), budget_(budget), wanted_(ops.states()), first_twin_(ops.twins(), kNone) {
    for (uint32_t i = 0; i < ops.size(); ++i) {
      const uint32_t state = ops.wanted_by(ops.op(i));
      if (state != kNone && ops.op(i).certain) wanted_[state].push_back(ops.op(i).call);
    }
    for (std::vector<uint32_t>& calls : wanted_) std::sort(calls.begin(), calls.end());
  }

  Judgement run() {
    Judgement found;
    const uint64_t most = kFewSituations + kSituationsAnOperation * ops_.size();
    bool goes_on = true;
    for (bool fresh = true; goes_on && ops_.left() > 0 && seen_.size() <= most;) {
      if (budget_.exhausted()) {
        found = Judgement::unknown(budget_.reason());
        if (due_ != kNone) found.reason.detail = ops_.progress(due_) + ": " + found.reason.detail;
        break;
      }
      if (fresh) open_choice();
      if (ops_.left() == 0) break;
      goes_on = take_next();
      fresh = goes_on && remember();
    }
    if (ops_.left() == 0) found = Judgement::satisfied({false, sequence()});
    while (!steps_.empty()) take_back();
    return found;
  }

 private:
  using Op = KeyOperations::Op;
  enum class Where : uint8_t { before, now };
  // A run of states begins with a write that expects no value. `before`: the step goes before that
  // write.
  struct Step {
    uint32_t op;
    uint32_t run;
    Where where;
  };
  struct Standing {
    uint32_t state = 0;
    uint32_t earlier = 0;  // the state right before the run
    uint32_t since =
        0;  // requests before this entry came before the run; 0: nothing can go before it
    uint32_t run = 0;
  };
  // One way to deal with an operation that is due: let `first`, if any, take effect and then the
  // operation.
  struct Alternative {
    uint32_t first, due;
    Where where;
    bool hurry = true;  // what fits only the overwritten state, and not the new one, takes effect
                        // before
  };
  struct Choice {
    size_t steps;
    Standing at;
    size_t begin, end;  // the range of alternatives_ that are untried
  };

  static bool asks_nothing(const Op& o) { return o.seen.accepts == Accepts::any; }
  bool may_go_before(const Op& o) const { return o.call < at_.since; }

  void open_choice() {
    while (take_harmless()) {
    }
    const uint32_t due = ops_.each_open([](uint32_t) { return true; });
    const size_t begin = alternatives_.size();
    if (due != kNone) {
      if (due_ == kNone || ops_.op(due).reply > ops_.op(due_).reply) due_ = due;
      list_alternatives(due);
      prefer(begin, ops_.op(due).reply);
    }
    choices_.push_back({steps_.size(), at_, begin, alternatives_.size()});
  }

  // Lets operations under way take effect that change nothing and fit the state or the one before
  // it. False if there are none; otherwise there may be more, as more operations are under way now.
  bool take_harmless() {
    const size_t steps = steps_.size();
    open_.clear();
    ops_.each_open([&](uint32_t op) {
      const Op& o = ops_.op(op);
      if (o.certain && o.state == kNone) open_.push_back(op);
      return true;
    });
    for (const uint32_t op : open_) {
      if (ops_.fits(ops_.op(op), at_.state)) {
        take(op, Where::now);
      } else if (may_go_before(ops_.op(op)) && ops_.fits(ops_.op(op), at_.earlier)) {
        take(op, Where::before);
      }
    }
    return steps_.size() > steps;
  }

  void list_alternatives(uint32_t due) {
    const Op& o = ops_.op(due);
    if (o.state != kNone && ops_.fits(o, at_.state)) add({kNone, due, Where::now});
    if (!asks_nothing(o)) {
      add_helped(due, Where::now);
      if (may_go_before(o)) add_helped(due, Where::before);
    }
    if (o.state != kNone && may_go_before(o) && ops_.fits(o, at_.earlier))
      add({kNone, due, Where::before});
  }
  // Sorts the alternatives from `begin` on: the one that leaves the state which is read soonest
  // after this entry comes last.
  void prefer(size_t begin, uint32_t entry) {
    stable_sort_by(std::span(alternatives_).subspan(begin), [&](const Alternative& a) {
      return -int64_t{next_wanted(state_after(a), entry)};
    });
  }
  // If the alternative overwrites the state, both with and without hurrying are tried.
  void add(Alternative a) {
    const uint32_t writer = a.first != kNone ? a.first : a.due;
    if (a.where == Where::now && asks_nothing(ops_.op(writer))) {
      list_hurried(a);
      if (!open_.empty()) {
        a.hurry = false;
        alternatives_.push_back(a);
        a.hurry = true;
      }
    }
    alternatives_.push_back(a);
  }

  // Adds alternatives in which one of the operations under way first leaves a state that fits; of
  // several that do the same, the one that has to respond first.
  void add_helped(uint32_t due, Where where) {
    const Op& o = ops_.op(due);
    helpers_.clear();
    ops_.each_open([&](uint32_t op) {
      const Op& w = ops_.op(op);
      if (w.state == kNone || op == due || !ops_.fits(o, w.state)) return true;
      const bool fits = where == Where::now ? ops_.fits(w, at_.state)
                                            : may_go_before(w) && ops_.fits(w, at_.earlier);
      if (!fits) return true;
      uint32_t& twin = first_twin_[w.twins];
      if (twin == kNone) helpers_.push_back(w.twins);
      if (twin == kNone || KeyOperations::goes_first(w, ops_.op(twin))) twin = op;
      return true;
    });
    for (const uint32_t twins : helpers_) {
      add({first_twin_[twins], due, where});
      first_twin_[twins] = kNone;
    }
  }

  uint32_t state_after(const Alternative& a) const {
    if (a.where == Where::before) return at_.state;
    const uint32_t own = ops_.op(a.due).state;
    return own != kNone ? own : ops_.op(a.first).state;
  }
  // The next entry after this one at which the state is asked for; kNone: there is none.
  uint32_t next_wanted(uint32_t state, uint32_t entry) const {
    const std::vector<uint32_t>& calls = wanted_[state];
    const auto it = std::upper_bound(calls.begin(), calls.end(), entry);
    return it == calls.end() ? kNone : *it;
  }

  // Continues with the last choice that has an alternative left. False if there is none.
  bool take_next() {
    for (; !choices_.empty(); choices_.pop_back()) {
      Choice& last = choices_.back();
      while (steps_.size() > last.steps) take_back();
      at_ = last.at;
      alternatives_.resize(last.end);
      if (last.begin == last.end) continue;
      const Alternative next = alternatives_[--last.end];
      if (next.first != kNone) put(next.first, next);
      put(next.due, next);
      return true;
    }
    return false;
  }

  // Lets an operation of the alternative take effect.
  void put(uint32_t op, const Alternative& alternative) {
    const Op& o = ops_.op(op);
    if (alternative.where == Where::before) {
      if (o.state != kNone) at_.earlier = o.state;
    } else if (o.state != kNone) {
      if (asks_nothing(o)) begin_run(alternative);
      at_.state = o.state;
    }
    take(op, alternative.where);
  }

  // Lists in open_ the compare-and-sets that can be done only before the alternative overwrites the
  // state.
  void list_hurried(const Alternative& a) {
    open_.clear();
    const uint32_t next = ops_.op(a.first != kNone ? a.first : a.due).state;
    ops_.each_open([&](uint32_t op) {
      const Op& o = ops_.op(op);
      if (o.certain && o.state != kNone && !asks_nothing(o) && op != a.due && op != a.first &&
          ops_.fits(o, at_.state) && !ops_.fits(o, next))
        open_.push_back(op);
      return true;
    });
  }

  // Begins a run: the state is about to be overwritten.
  void begin_run(const Alternative& alternative) {
    if (alternative.hurry) {
      list_hurried(alternative);
      for (const uint32_t op : open_) {
        if (!ops_.fits(ops_.op(op), at_.state)) continue;  // the previous one changed the state
        take(op, Where::now);
        at_.state = ops_.op(op).state;
      }
    }
    at_.earlier = at_.state;
    at_.since = ops_.op(alternative.due).reply;
    ++at_.run;
  }

  void take(uint32_t op, Where where) {
    ops_.take(op);
    steps_.push_back({op, at_.run, where});
  }
  void take_back() {
    ops_.take_back(steps_.back().op);
    steps_.pop_back();
  }

  // Returns false if the situation was met before.
  bool remember() {
    const uint64_t where = mix64((uint64_t{at_.state} << 32 | at_.earlier) + mix64(at_.since));
    const Situation taken = ops_.taken();
    return seen_.insert({taken.a ^ where, taken.b + where}, budget_);
  }

  std::vector<TxnId> sequence() const {
    std::vector<Step> steps = steps_;
    stable_sort_by(steps,
                   [](const Step& s) { return pack(s.run, static_cast<uint32_t>(s.where)); });
    std::vector<TxnId> txns;
    for (const Step& step : steps) txns.push_back(ops_.op(step.op).txn);
    return txns;
  }

  KeyOperations& ops_;
  Budget& budget_;
  std::vector<std::vector<uint32_t>> wanted_;  // indexed by state: when reads expect it
  Standing at_;
  std::vector<Step> steps_;
  std::vector<Choice> choices_;
  std::vector<Alternative> alternatives_;
  std::vector<uint32_t> open_, helpers_;  // scratch
  std::vector<uint32_t> first_twin_;      // scratch: indexed by number of operations with the same
                                          // effect
  uint32_t due_ = kNone;                  // the operation at which the search got furthest
  SituationSet seen_;
};

}  // namespace

Judgement search_lazily(KeyOperations& ops, Budget& budget) {
  return LazySearch(ops, budget).run();
}

}  // namespace assay::internal
