// The state of a replay and the rules for waiting; the essay is in schedule.cc.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "assay/level.h"
#include "graph/digraph.h"
#include "infer/open_reads.h"
#include "infer/problem.h"
#include "infer/unknown_outcomes.h"

namespace assay::internal {

inline constexpr Vertex kNothing = 0xFFFFFFFF;

// The numbering of a level's events, which is the same for all nodes. EventGraph has the same
// functions, and also handles nodes of different levels.
struct Events {
  bool split;
  bool write_conflict;

  explicit Events(const LevelInfo& level)
      : split(level.events == EventModel::split), write_conflict(level.write_conflict) {}
  Vertex read_event(Node n) const { return split ? 2 * n : n; }
  Vertex write_event(Node n) const { return split ? 2 * n + 1 : n; }
  Node node_of(Vertex v) const { return split ? v / 2 : v; }
  bool reads(Vertex v) const { return !split || v % 2 == 0; }
  bool writes(Vertex v) const { return !split || v % 2 == 1; }
  // Whether this is the event at which a write dependency arrives, which has to wait until no other
  // transaction holds the keys.
  bool overwrites(Vertex v) const { return write_conflict ? reads(v) : writes(v); }
  bool waits_for_holders(Vertex v) const { return write_conflict && reads(v); }
  bool takes_hold(Vertex v) const { return write_conflict && !writes(v); }
  bool any_holds() const { return write_conflict; }
};

// The writes of each key, in the order of their events in `order`.
class WriterQueues {
 public:
  template <class Places>
  WriterQueues(const Problem& problem, const Places& events, std::span<const Vertex> order) {
    const size_t keys = problem.keys();
    next_.assign(problem.writes.of_key.begin.begin(),
                 problem.writes.of_key.begin.begin() + static_cast<std::ptrdiff_t>(keys));
    queue_.resize(problem.writes.size());
    index_.resize(problem.writes.size());
    std::vector<uint32_t> fill = next_;
    for (Vertex v : order) {
      const Node n = events.node_of(v);
      if (n >= problem.nodes() || !events.writes(v)) continue;
      for (const WriteId w : problem.writes.of(n)) {
        index_[w] = fill[problem.writes.key[w]]++;
        queue_[index_[w]] = n;
      }
    }
    end_ = std::move(fill);
  }

  // The first writer of `key` whose write event has not happened; kNone if all have.
  template <class Places>
  Node first_waiting(KeyId key, const Places& events, const std::vector<uint8_t>& happened) {
    uint32_t& next = next_[key];
    while (next < end_[key] && happened[events.write_event(queue_[next])]) ++next;
    return next < end_[key] ? queue_[next] : kNone;
  }

  // For a write that is not first in line: the nearest writer before it that has not happened, if
  // that is known without a search; otherwise `first`.
  template <class Places>
  Node nearest_waiting(WriteId w, Node first, const Places& events,
                       const std::vector<uint8_t>& happened) const {
    const uint32_t index = index_[w];
    if (index == 0) return first;
    const Node before = queue_[index - 1];
    return happened[events.write_event(before)] ? first : before;
  }

 private:
  std::vector<Node> queue_;
  std::vector<uint32_t> next_, end_;  // indexed by key: index into queue_
  std::vector<uint32_t> index_;       // indexed by write: index into queue_
};

// The state of a replay and the rules for waiting. `Precedence` says what an event depends on,
// `Places` where events are: Events or EventGraph.
template <class Precedence, class Places>
class Scheduler {
 public:
  // `order` is the proposal; it decides which writer of a key comes first. `find_outcomes`: also
  // find out which of the possible nodes take effect. `stated_before`: for each write a node whose
  // version must come before it, or kNone; or empty.
  Scheduler(const Problem& problem, const Places& events, size_t vertices,
            std::span<const Vertex> order, Precedence& precedence, bool find_outcomes = false,
            std::span<const Node> stated_before = {})
      : problem_(problem),
        open_(problem.open.get()),
        events_(events),
        precedence_(precedence),
        queues_(problem, events_, order),
        stated_before_(stated_before),
        happened_(vertices, 0),
        first_blocked_(vertices, kNothing),
        next_blocked_(vertices, kNothing),
        previous_blocked_(vertices, kNothing),
        waits_for_(vertices, kNothing),
        wait_(vertices, Wait::none),
        readers_done_(problem.writes.size(), 0),
        initial_done_(problem.initial_readers.rows(), 0),
        current_(problem.keys(), kNone) {
    if (events_.any_holds()) holder_.assign(problem.keys(), kNone);
    order_.reserve(vertices);
    if (open_ == nullptr) return;
    if (find_outcomes && !problem.possible.empty() && !problem.is_part())
      outcomes_.emplace(problem);
    proposed_.resize(vertices);
    for (uint32_t i = 0; i < order.size(); ++i) proposed_[order[i]] = i;
  }

  const std::vector<uint8_t>& happened() const { return happened_; }
  std::vector<Vertex> take_order() { return std::move(order_); }
  size_t done() const { return order_.size(); }
  // The possible nodes that take effect.
  std::vector<Node> effective() const {
    return outcomes_ ? outcomes_->effective() : std::vector<Node>();
  }

  // Lets `v` happen if it may, and then everything that was waiting for it; otherwise parks it.
  void attempt(Vertex v) {
    ready_.push_back(v);
    drain();
  }
  // To be called before the first attempt if attempt_free will be used.
  void keep_order() { in_order_ = true; }
  // The same for an event that may happen once all before it in the proposal have, if the writers
  // of each key happened in the proposal's order.
  void attempt_free(Vertex v) {
    if (waiting_ == 0 && in_order_)
      happen(v);
    else
      attempt(v);
  }
  // If nothing but the order of the proposal blocks `v`, lets it overtake.
  void overtake(Vertex v) {
    if (happened_[v] || (wait_[v] != Wait::soft && wait_[v] != Wait::in_line)) return;
    wait_[v] = Wait::may_overtake;
    attempt(v);
  }
  // Lets `v` happen whatever blocks it.
  void force(Vertex v) {
    happen(v);
    drain();
  }
  bool must_wait(Vertex v) { return precedence_.is_event(v) && hard_blocker(v) != kNothing; }

 private:
  // in_line: the event waits for another writer of a key; this is soft, too, whatever else may
  // block the event.
  enum class Wait : uint8_t { none, hard, soft, in_line, may_overtake };
  static constexpr int kLongestCircle = 64;
  static constexpr Vertex kFirst =
      1u << 31;  // in previous_blocked_: `v` is the first that waits for this vertex

  void drain() {
    while (!ready_.empty()) {
      const Vertex v = ready_.back();
      ready_.pop_back();
      if (!happened_[v]) consider(v);
    }
  }

  // Only the first of several writers of a key determines its blocker, which may be one reader
  // after another; each of the others waits for the writer before it and is considered again when
  // that one has happened.
  void consider(Vertex v) {
    unblock(v);
    Vertex blocker = precedence_.missing(v, happened_);
    Wait wait = Wait::hard;
    const bool certain = !outcomes_ || !outcomes_->is_possible(events_.node_of(v));
    if (blocker == kNothing && certain && precedence_.is_event(v)) {
      if (outcomes_) wake_sources(v);
      const bool keeps_order = wait_[v] != Wait::may_overtake;
      if (keeps_order) blocker = earlier_writer(v).first;
      wait = blocker == kNothing ? Wait::hard : Wait::in_line;
      if (blocker == kNothing) blocker = hard_blocker(v);
      if (blocker == kNothing && keeps_order) {
        blocker = source_to_come(v, false);
        wait = Wait::soft;
      }
      if (blocker != kNothing) precedence_.note_blocked(v);
    }
    if (blocker != kNothing && closes_circle(v, blocker) && wait != Wait::hard) {
      if (wait == Wait::in_line) {
        wait_[v] = Wait::may_overtake;
        ready_.push_back(v);
        return;
      }
      blocker = kNothing;
    }
    if (blocker == kNothing) return happen(v);
    if (wait_[v] != Wait::may_overtake) wait_[v] = wait;
    if (waits_for_[v] == kNothing) ++waiting_;
    waits_for_[v] = blocker;
    block(v, wait == Wait::in_line ? earlier_writer(v).nearest : blocker);
  }

  void block(Vertex v, Vertex until) {
    next_blocked_[v] = first_blocked_[until];
    if (first_blocked_[until] != kNothing) previous_blocked_[first_blocked_[until]] = v;
    first_blocked_[until] = v;
    previous_blocked_[v] = kFirst | until;
  }

  // If `v` is blocked, stops that: it was released early, or its blocker has happened.
  void unblock(Vertex v) {
    const Vertex before = std::exchange(previous_blocked_[v], kNothing);
    if (before == kNothing) return;
    const Vertex next = next_blocked_[v];
    if ((before & kFirst) != 0)
      first_blocked_[before & ~kFirst] = next;
    else
      next_blocked_[before] = next;
    if (next != kNothing) previous_blocked_[next] = before;
  }

  // The event that a waiting event waits for; for a writer in line, the first in that line.
  Vertex awaited(Vertex v) {
    if (wait_[v] != Wait::in_line) return waits_for_[v];
    const Vertex first = earlier_writer(v).first;
    return first == kNothing ? waits_for_[v] : first;
  }

  // Whether `blocker` waits, directly or through others, for `v`. A soft wait on the way is given
  // up.
  bool closes_circle(Vertex v, Vertex blocker) {
    Vertex soft = kNothing;
    Vertex at = blocker;
    for (int step = 0; step < kLongestCircle; ++step) {
      if (at == v) break;
      if (happened_[at] || waits_for_[at] == kNothing) return false;
      if (wait_[at] == Wait::soft || wait_[at] == Wait::in_line) soft = at;
      at = awaited(at);
    }
    if (at != v) return false;
    if (soft != kNothing) {
      wait_[soft] = Wait::may_overtake;
      ready_.push_back(soft);
    }
    return true;
  }

  // The writer of the current state; kNone: the initial state.
  TxnId current_writer(KeyId key) const {
    if (outcomes_ && outcomes_->woken(key) != kNone) return problem_.txn[outcomes_->woken(key)];
    const WriteId seen = current_[key];
    return seen == kNone ? kNone : problem_.txn[problem_.writes.node[seen]];
  }

  static bool may_be_from(const OpenRead& read, TxnId writer) {
    return std::binary_search(read.sources.begin(), read.sources.end(), writer);
  }

  // If the current state does not fit an open read, and a dormant transaction of unknown outcome
  // left one that does, wakes that transaction.
  void wake_sources(Vertex v) {
    for (const uint32_t i : open_->of(problem_.txn[events_.node_of(v)])) {
      const OpenRead& read = open_->all()[i];
      if (may_be_from(read, current_writer(read.key))) continue;
      const Node n = outcomes_->dormant(read.key);
      if (n == kNone || !may_be_from(read, problem_.txn[n]) || !outcomes_->would_show(n, read.key))
        continue;
      const auto keys = outcomes_->keys_of(n);
      const bool awaited = std::any_of(keys.begin(), keys.end(), [&](KeyId key) {
        return outcomes_->would_show(n, key) && awaited_reader(key, kNone) != kNothing;
      });
      if (!awaited) outcomes_->wake(n);
    }
  }

  // Whether the current state fits every open read of `n`.
  bool reads_fit(Node n) const {
    const std::vector<uint32_t>& reads = open_->of(problem_.txn[n]);
    return std::all_of(reads.begin(), reads.end(), [this](uint32_t i) {
      const OpenRead& read = open_->all()[i];
      return may_be_from(read, current_writer(read.key));
    });
  }

  // The next possible source of an open read of `v`, if the current state fits none of its sources.
  // `needed`: only if none of them has happened yet. kNothing if all have, or there is no such
  // read.
  Vertex source_to_come(Vertex v, bool needed) const {
    if (open_ == nullptr || !events_.reads(v)) return kNothing;
    for (const uint32_t i : open_->of(problem_.txn[events_.node_of(v)])) {
      const OpenRead& read = open_->all()[i];
      if (may_be_from(read, current_writer(read.key))) continue;
      Vertex next = kNothing;
      bool any = false;
      for (const TxnId t : read.sources) {
        const Vertex source = t == kNone ? kNothing : events_.write_event(problem_.node_of(t));
        if (t == kNone || happened_[source])
          any = true;
        else if (next == kNothing || proposed_[source] < proposed_[next])
          next = source;
      }
      if (next != kNothing && next != v && !(needed && any)) return next;
    }
    return kNothing;
  }

  // The event that blocks `v` by the rules of the level.
  Vertex hard_blocker(Vertex v) {
    const Node n = events_.node_of(v);
    if (const Vertex source = source_to_come(v, true); source != kNothing) return source;
    if (events_.waits_for_holders(v)) {
      for (const WriteId w : problem_.writes.of(n)) {
        const Node holder = holder_[problem_.writes.key[w]];
        if (holder != kNone && holder != n) return events_.write_event(holder);
      }
    }
    if (const Vertex before = stated_blocker(v); before != kNothing) return before;
    if (events_.writes(v)) {
      for (const WriteId w : problem_.writes.of(n)) {
        const Vertex reader = awaited_reader(problem_.writes.key[w], n);
        if (reader != kNothing) return reader;
      }
    }
    return kNothing;
  }

  // A writer whose version of a key is stated to precede that of `v`, and has not been installed.
  Vertex stated_blocker(Vertex v) const {
    if (stated_before_.empty() || !events_.overwrites(v)) return kNothing;
    for (const WriteId w : problem_.writes.of(events_.node_of(v))) {
      const Node before = stated_before_[w];
      if (before != kNone && !happened_[events_.write_event(before)])
        return events_.write_event(before);
    }
    return kNothing;
  }

  // Among the writers of one of the event's keys that precede it in the proposal and have not
  // happened: the first and the nearest.
  struct Earlier {
    Vertex first = kNothing, nearest = kNothing;
  };
  Earlier earlier_writer(Vertex v) {
    if (!events_.overwrites(v)) return {};
    const Node n = events_.node_of(v);
    for (const WriteId w : problem_.writes.of(n)) {
      if (!stated_before_.empty() && stated_before_[w] != kNone) continue;  // that one has happened
      const Node first = queues_.first_waiting(problem_.writes.key[w], events_, happened_);
      if (first == n || first == kNone) continue;
      const Node nearest = queues_.nearest_waiting(w, first, events_, happened_);
      return {events_.write_event(first), events_.write_event(nearest)};
    }
    return {};
  }

  // A reader of the current version of `key`, other than `except`, that has yet to read.
  Vertex awaited_reader(KeyId key, Node except) {
    const WriteId current = current_[key];
    const std::span<const Node> readers =
        current == kNone ? problem_.initial_readers[key] : problem_.readers[current];
    uint32_t& done = current == kNone ? initial_done_[key] : readers_done_[current];
    while (done < readers.size() && happened_[events_.read_event(readers[done])]) ++done;
    for (uint32_t i = done; i < readers.size(); ++i) {
      const Vertex read = events_.read_event(readers[i]);
      if (readers[i] != except && !happened_[read]) return read;
    }
    return kNothing;
  }

  void happen(Vertex v) {
    if (waits_for_[v] != kNothing) --waiting_;
    if (waiting_ > 0 && in_order_) in_order_ = !overtakes(v);
    happened_[v] = 1;
    precedence_.note_happened(v);
    order_.push_back(v);
    if (outcomes_) note_for_outcomes(events_.node_of(v));
    if (precedence_.is_event(v)) {
      const Node n = events_.node_of(v);
      for (const WriteId w : problem_.writes.of(n)) {
        const KeyId key = problem_.writes.key[w];
        if (events_.writes(v)) current_[key] = w;
        if (events_.takes_hold(v)) holder_[key] = n;
        if (events_.any_holds() && events_.writes(v)) holder_[key] = kNone;
      }
    }
    unblock(v);
    // The events that were blocked longest come first: the lists are stacks, and so is ready_.
    while (first_blocked_[v] != kNothing) {
      ready_.push_back(first_blocked_[v]);
      unblock(first_blocked_[v]);
    }
  }

  // Whether `v` installs a version before another writer of the key that precedes it in the
  // proposal.
  bool overtakes(Vertex v) {
    if (!precedence_.is_event(v) || !events_.writes(v)) return false;
    const Node n = events_.node_of(v);
    for (const WriteId w : problem_.writes.of(n))
      if (queues_.first_waiting(problem_.writes.key[w], events_, happened_) != n) return true;
    return false;
  }

  void note_for_outcomes(Node n) {
    const auto moment = static_cast<uint32_t>(order_.size());
    if (outcomes_->is_possible(n)) return outcomes_->pass(n, moment, reads_fit(n));
    for (const ExternalRead& read : problem_.reads[n]) outcomes_->note_read(read.key, moment);
    for (const uint32_t i : open_->of(problem_.txn[n]))
      outcomes_->note_read(open_->all()[i].key, moment);
    for (const WriteId w : problem_.writes.of(n))
      outcomes_->note_install(problem_.writes.key[w], moment);
  }

  const Problem& problem_;
  const OpenReads* open_;                    // null: no reads are open
  std::optional<UnknownOutcomes> outcomes_;  // set if outcomes are decided during the replay
  const Places& events_;
  Precedence& precedence_;
  WriterQueues queues_;
  std::span<const Node> stated_before_;  // indexed by write; empty: nothing is stated
  std::vector<uint8_t> happened_;
  // Indexed by vertex: the first of the events that it blocks, and for each of these the next and
  // the previous one.
  std::vector<Vertex> first_blocked_, next_blocked_, previous_blocked_;
  std::vector<Vertex> waits_for_;  // indexed by vertex: the event that it last waited for
  std::vector<Wait> wait_;
  std::vector<uint32_t> readers_done_;  // indexed by write: number of readers known to have
                                        // happened, a prefix
  std::vector<uint32_t> initial_done_;  // indexed by key: the same for the initial version
  std::vector<WriteId> current_;        // indexed by key: the current version
  std::vector<Node> holder_;            // indexed by key: the open writer
  std::vector<Vertex> ready_, order_;
  size_t waiting_ = 0;     // events that are blocked, or were blocked and are ready
  bool in_order_ = false;  // the writers of each key happened in the order of the proposal; kept
                           // only if needed
  std::vector<uint32_t> proposed_;  // indexed by vertex, if reads are open: its place in the
                                    // proposal
};

}  // namespace assay::internal
