// Which version orders are forced?
//
// A writer T2 of x must precede the writer T1 that a reader S of x saw, if T2 reaches S by known
// edges: the other order would make S read an overwritten version.
//
//   s1: { w(x,1) }          T1
//   s2: { w(x,2) w(y,1) }   T2
//   s3: { r(y,1) r(x,1) }   S: T2 → S by y, S reads x from T1, so T2's x precedes T1's
//
// Three rules, on events, to a fixpoint (tgt is where a write dependency arrives,
// EventGraph::overwrite_event):
//   R1  T2 → S, S reads x from T1                 ⇒ T2 before T1: edge w(T2) → tgt(T1)
//   R2  U's tgt → w(W), both write x              ⇒ U before W:   edge w(U) → tgt(W)
//   R3  the same, and R reads x from U            ⇒ edge r(R) → w(W)
// R1 is PolySI's rule for anti-dependencies, R2 that for write dependencies, R3 what PolySI adds with both; but PolySI
// looks for R2 from w(U) on, tgt(U) = r(U) comes with Viper's graph. Each has a switch.
// They contain PolySI's pruning (a pair is decided as soon as one side closes a cycle) and Cobra's
// chains: a transaction that reads and overwrites a version gets the write dependency from its own
// read.
//
// An index knows which events reach which: clocks if sessions are long chains (session_clocks.cc), else a matrix of bits for one
// block of neighbouring events after another (closure.cc). Of the writers that reach an event either names only the last ones, and an
// edge is added only if the index does not show it already.
//
// Rounds: a sweep in topological order carries what grew along edges and applies the rules to
// the entries that grew; then the edges found are inserted (the order is repaired, or a cycle is
// met), and their heads are where the next sweep starts. Later rounds touch few vertices.
//
// Cost: (edges + reads + writes) × sessions for the first round, then what changes; with a matrix, the words of a row take the
// place of sessions. Source: PolySI (PVLDB 2023) for the rules.

#include "infer/saturation.h"

#include <algorithm>
#include <bit>

namespace assay::internal {
namespace {

using Result = Saturation::Result;

// Applies the rules, round by round. Index: SessionClocks, which holds all vertices, or Closure, which holds those of a block.
template <class Index>
class Rounds {
 public:
  Rounds(const EventGraph& events, IncrementalOrder& order, KnownEdges& known,
         const SaturationRules& rules, Index& index)
      : events_(events),
        problem_(events.problem()),
        order_(order),
        known_(known),
        rules_(rules),
        index_(index),
        dirty_(events.graph().vertices() / 64 + 1, 0),
        queued_(events.graph().vertices(), 0) {}

  // Derives what it can between the vertices at these places in the order, which the index holds. The first round looks at all.
  Result run(uint32_t begin, uint32_t end, uint32_t most_rounds, Budget& budget) {
    for (const Vertex v : next_) queued_[v] = 0;
    const auto vertices = order_.order().subspan(begin, end - begin);
    next_.assign(vertices.begin(), vertices.end());
    for (round_ = 0; round_ < most_rounds && !at_fixpoint(); ++round_) {
      ++rounds_;
      if (!sweep(begin, end, budget)) return Result::out_of_budget;
      if (!insert_candidates()) return Result::cycle;
    }
    return Result::fixpoint;
  }
  // Whether the last run left nothing to look at.
  bool at_fixpoint() const { return next_.empty(); }
  uint32_t rounds() const { return rounds_; }

 private:
  struct Candidate {
    DerivedEdge edge;
    ForcedOrder forced;
  };

  bool sweep(uint32_t begin, uint32_t end, Budget& budget) {
    for (const Vertex v : next_) {
      set_dirty(v);
      queued_[v] = 0;
    }
    next_.clear();
    for (size_t word = begin / 64; word <= (end - 1) / 64; ++word) {
      while (dirty_[word] != 0) {  // what is pushed stands later, in this word or beyond
        const uint32_t bit = static_cast<uint32_t>(std::countr_zero(dirty_[word]));
        dirty_[word] &= dirty_[word] - 1;
        const Vertex v = order_.order()[word * 64 + bit];
        if (events_.is_event(v)) apply_rules(v);
        events_.graph().each_out(v, [&](Vertex next) {
          if (index_.holds(next) && index_.join(v, next)) set_dirty(next);
          return true;
        });
        if (budget.exhausted()) return false;
      }
    }
    return true;
  }

  void set_dirty(Vertex v) {
    const uint32_t position = order_.position(v);
    dirty_[position / 64] |= uint64_t{1} << (position % 64);
  }

  void apply_rules(Vertex v) {
    const Node n = events_.node_of(v);
    if (v == events_.read_event(n) && rules_.anti_dependencies) {
      for (const ExternalRead& read : problem_.reads[n]) {
        if (read.write != kNone) earlier_writers_of_read(n, read);
      }
    }
    if (v == events_.write_event(n) && rules_.write_dependencies) {
      for (const WriteId w : problem_.writes.of(n)) earlier_writers_of_write(w);
    }
    if (v == events_.write_event(n) && !rules_.write_dependencies && rules_.combined_writes) {
      combine_writes(n);
    }
    index_.note_examined(v);
  }

  // R1.
  void earlier_writers_of_read(Node reader, const ExternalRead& read) {
    const auto precedes = [&](WriteId earlier, bool) {
      if (earlier == read.write || !writer_precedes(earlier, read.write, reader)) return;
      if (!rules_.write_dependencies) readers_precede(earlier, read.write, reader);  // else R3 does
    };
    index_.each_earlier(read.key, events_.read_event(reader), false, kNone, precedes);
  }

  // R3 for writers that read what they overwrite.
  void combine_writes(Node n) {
    for (const ExternalRead& read : problem_.reads[n]) {
      if (read.write == kNone) continue;
      const WriteId own = problem_.write_of(n, read.key);
      if (own != kNone) readers_precede(read.write, own, kNone);
    }
  }

  // R2 and R3.
  void earlier_writers_of_write(WriteId write) {
    const auto precedes = [&](WriteId earlier, bool readers_too) {
      writer_precedes(earlier, write, kNone);
      if (readers_too) readers_precede(earlier, write, kNone);
    };
    const Vertex at = events_.write_event(problem_.writes.node[write]);
    index_.each_earlier(problem_.writes.key[write], at, rules_.begins, write, precedes);
  }

  // `shown_by`: the reader of R1; kNone for R2 and R3. False if the order is known.
  bool writer_precedes(WriteId earlier, WriteId write, Node shown_by) {
    const Node writer = problem_.writes.node[earlier], n = problem_.writes.node[write];
    const Arc arc = {events_.write_event(writer), events_.overwrite_event(n)};
    return add_candidate(arc, kNone, earlier, write, shown_by);
  }
  void readers_precede(WriteId earlier, WriteId write, Node shown_by) {
    const Node n = problem_.writes.node[write];
    for (const Node reader : problem_.readers[earlier]) {
      const Arc arc = {events_.read_event(reader), events_.write_event(n)};
      if (reader != n) add_candidate(arc, reader, earlier, write, shown_by);
    }
  }

  // False if the edge is known, or the index does not hold both its ends.
  bool add_candidate(Arc arc, Node reader, WriteId earlier, WriteId write, Node shown_by) {
    if (!index_.holds(arc.from) || !index_.holds(arc.to) || index_.reaches(arc.from, arc.to))
      return false;
    const KeyId key = problem_.writes.key[write];
    ForcedOrder forced;
    forced.before = problem_.writes.node[earlier];
    forced.after = problem_.writes.node[write];
    forced.key = key;
    forced.reader = shown_by;
    const auto kind = reader == kNone ? EdgeKind::write_dependency : EdgeKind::anti_dependency;
    candidates_.push_back({{arc, kind, key, reader}, forced});
    return true;
  }

  // Inserts what the sweep found. False if an edge closes a cycle.
  bool insert_candidates() {
    const uint32_t edges_known = static_cast<uint32_t>(known_.edges.size());
    for (Candidate& c : candidates_) {
      if (index_.reaches(c.edge.arc.from, c.edge.arc.to)) continue;
      c.forced.edges_known = edges_known;
      c.forced.round = round_;
      c.edge.forced = static_cast<uint32_t>(known_.forced.size());
      known_.forced.push_back(c.forced);
      known_.edges.push_back(c.edge);
      if (!order_.insert(c.edge.arc)) return false;
      const Vertex head = c.edge.arc.to;
      if (index_.join(c.edge.arc.from, head) && !queued_[head]) {
        queued_[head] = 1;
        next_.push_back(head);
      }
    }
    candidates_.clear();
    return true;
  }

  const EventGraph& events_;
  const Problem& problem_;
  IncrementalOrder& order_;
  KnownEdges& known_;
  const SaturationRules& rules_;
  Index& index_;
  std::vector<uint64_t> dirty_;  // bitmap over positions: grown since the last visit
  std::vector<Vertex> next_;     // what the next sweep begins with
  std::vector<uint8_t> queued_;  // per vertex: in next_, found by an edge
  std::vector<Candidate> candidates_;
  uint32_t round_ = 0;   // of this run
  uint32_t rounds_ = 0;  // of all
};

}  // namespace

Saturation::Saturation(const EventGraph& events, IncrementalOrder& order, KnownEdges& known,
                       SaturationRules rules)
    : events_(events), order_(order), known_(known), rules_(rules), clocks_(events) {}

Saturation::Result Saturation::run(Budget& budget) {
  const size_t vertices = events_.graph().vertices();
  if (!budget.has_room((2 * sizeof(Vertex) + 1) * vertices)) return Result::out_of_budget;
  if (!clocks_.affordable()) return run_by_blocks(budget);
  if (!clocks_.start(budget)) return Result::out_of_budget;
  Rounds rounds(events_, order_, known_, rules_, clocks_);
  const Result result = rounds.run(0, static_cast<uint32_t>(vertices), UINT32_MAX, budget);
  rounds_ = rounds.rounds();
  return result;
}

// Each block begins in the middle of the one before. The first pass makes a few rounds in each block: they often find a
// contradiction, and its proof is short then. The second pass goes to the fixpoint.
Saturation::Result Saturation::run_by_blocks(Budget& budget) {
  constexpr uint32_t kFewRounds = 6;
  Closure closure(events_);
  Rounds rounds(events_, order_, known_, rules_, closure);
  const uint32_t vertices = static_cast<uint32_t>(events_.graph().vertices());
  const uint32_t half = rules_.block / 2;
  Result result = Result::fixpoint;
  bool complete = false;
  for (const uint32_t most_rounds : {kFewRounds, UINT32_MAX}) {
    if (complete || result != Result::fixpoint) break;
    complete = true;
    for (uint32_t begin = 0, end = 0; end < vertices && result == Result::fixpoint; begin += half) {
      end = std::min(begin + 2 * half, vertices);
      if (!closure.start(order_.order().subspan(begin, end - begin), budget))
        return Result::out_of_budget;
      result = rounds.run(begin, end, most_rounds, budget);
      complete = complete && rounds.at_fixpoint();
    }
  }
  rounds_ = rounds.rounds();
  return result;
}

}  // namespace assay::internal
