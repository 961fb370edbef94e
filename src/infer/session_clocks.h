// Which events reach which by known edges, as one number for each session. See session_clocks.cc.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "assay/budget.h"
#include "infer/event_graph.h"

namespace assay::internal {

class SessionClocks {
 public:
  explicit SessionClocks(const EventGraph& events);

  // Whether the level keeps session order, and events × sessions words are a sensible amount of
  // memory.
  bool affordable() const;
  // Returns false if there is no memory.
  bool start(Budget& budget);

  bool on_chain(Node n) const { return chain_[n] != kNone; }
  // Whether known edges lead from an event to `v`. Also false if the event's node is on no chain.
  bool reaches(Vertex event, Vertex v) const {
    const Node n = events_.node_of(event);
    return on_chain(n) && clock(v)[chain_[n]] >= mark(n, event == events_.write_event(n));
  }
  // Whether known edges lead from the writes of one node to those of the other.
  bool ordered(Node a, Node b) const {
    return reaches(events_.write_event(a), events_.write_event(b)) ||
           reaches(events_.write_event(b), events_.write_event(a));
  }
  // For each chain, the last writer of the key that known edges put before the reads of `reader`,
  // other than `reader`.
  void last_writers_before(Node reader, KeyId key, std::vector<Node>& writers) const;

  // The interface for the rules of saturation (saturation.cc).
  bool holds(Vertex) const { return true; }
  // Adds what reaches `from` to what reaches `to`; true if `to` gained anything.
  bool join(Vertex from, Vertex to);
  // Calls visit(write, readers_too) for the last writer of the key in each chain, except v's own
  // node, if its write event has come to reach the event `v` since note_examined(v).
  // `from_overwrites`: instead of its write event, the event at which a write dependency arrives
  // must have. `own`: the write at `v` to the key, or kNone. readers_too is false if the write
  // before `own` in its chain already follows the same writer: then its readers are known to come
  // before.
  template <class Visit>
  void each_earlier(KeyId key, Vertex v, bool from_overwrites, WriteId own, Visit visit) const;
  void note_examined(Vertex v) {
    std::copy_n(clock(v), chains_, examined_.data() + size_t{v} * chains_);
  }

 private:
  // Writers of one key in one session, in session order.
  struct Segment {
    uint32_t chain;
    uint32_t begin, end;  // indices into segment_writes_ and segment_index_
  };

  void index_chains();
  void index_segments();
  // Marks number the events of a chain from 1; a clock entry is the greatest mark of the chain that
  // reaches the vertex.
  uint32_t mark(Node n, bool write) const {
    return events_.split() ? 2 * chain_index_[n] + (write ? 2 : 1) : chain_index_[n] + 1;
  }
  uint32_t overwrite_mark(Node n) const {
    return mark(n, events_.overwrite_event(n) != events_.read_event(n));
  }
  uint32_t* clock(Vertex v) { return clocks_.data() + size_t{v} * chains_; }
  const uint32_t* clock(Vertex v) const { return clocks_.data() + size_t{v} * chains_; }
  WriteId last_within(const Segment& segment, uint32_t index_bound) const;
  uint32_t writes_within(uint32_t mark) const;
  uint32_t overwrites_within(uint32_t mark) const;

  const EventGraph& events_;
  const Problem& problem_;
  uint32_t chains_ = 0;
  std::vector<uint32_t> chain_;        // indexed by node; kNone: it is on no chain
  std::vector<uint32_t> chain_index_;  // indexed by node: place in its chain
  std::vector<WriteId> previous_;      // indexed by write: the previous write of the same key and
                                       // chain
  Rows<Segment> segments_;             // by key
  std::vector<WriteId> segment_writes_;
  std::vector<uint32_t> segment_index_;  // places of the writes' nodes in the chain, ascending
  std::vector<uint32_t> clocks_;
  std::vector<uint32_t> examined_;  // indexed by event: its clock when the rules were last applied
                                    // to it
};

template <class Visit>
void SessionClocks::each_earlier(KeyId key, Vertex v, bool from_overwrites, WriteId own,
                                 Visit visit) const {
  const Node n = events_.node_of(v);
  const uint32_t* now = clock(v);
  const uint32_t* before = examined_.data() + size_t{v} * chains_;
  const WriteId previous = own == kNone ? kNone : previous_[own];
  for (const Segment& segment : segments_[key]) {
    const uint32_t chain = segment.chain;
    if (now[chain] == before[chain]) continue;
    uint32_t bound = from_overwrites ? overwrites_within(now[chain]) : writes_within(now[chain]);
    if (chain == chain_[n]) bound = std::min(bound, chain_index_[n]);
    const WriteId earlier = last_within(segment, bound);
    if (earlier == kNone) continue;
    const Node writer = problem_.writes.node[earlier];
    const uint32_t arrives = from_overwrites ? overwrite_mark(writer) : mark(writer, true);
    if (before[chain] >= arrives) continue;  // the rules have seen it before
    const bool done_before =
        previous != kNone && previous != earlier &&
        clock(events_.write_event(problem_.writes.node[previous]))[chain] >= arrives;
    visit(earlier, !done_before);
  }
}

}  // namespace assay::internal
