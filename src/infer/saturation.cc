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
// R1 is PolySI's rule for anti-dependencies, R2 that for write dependencies, R3 what PolySI adds
// with both; but PolySI applies R2 from w(U) on, and tgt(U) = r(U) comes from Viper's graph. Each
// has a switch. They contain PolySI's pruning (a pair is decided as soon as one side closes a
// cycle) and Cobra's chains: a transaction that reads and overwrites a version gets the write
// dependency from its own read.
//
// An index knows which events reach which: clocks if sessions are long chains (session_clocks.cc),
// else rows of bits over a window that slides over the events (closure.cc). Of the writers that
// reach an event either index names only the last ones, and an edge is added only if the index does
// not show it already.
//
// Rounds: a sweep in topological order carries growth along edges and applies the rules to the
// entries that grew; then the edges found are inserted (the order is repaired, or a cycle is met),
// and the next sweep starts at their heads. Later rounds touch few vertices. A window has to pass
// over everything in every round, but adds an edge as soon as it is found, so few rounds are
// needed.
//
// Cost: (edges + reads + writes) × sessions for the first round, then what changes; with a window,
// the words of a row take the place of sessions, for each round. Source: PolySI (PVLDB 2023) for
// the rules.

#include "infer/saturation.h"

#include <algorithm>
#include <bit>

namespace assay::internal {
namespace {

using Ending = Saturation::Result;

// Applies the rules to one event after another. Index: SessionClocks, which holds all vertices, or
// Closure, which holds those of a window.
template <class Index>
class Rules {
 protected:
  struct Candidate {
    DerivedEdge edge;
    ForcedOrder forced;
  };

  Rules(const EventGraph& events, const SaturationRules& rules, Index& index)
      : events_(events), problem_(events.problem()), index_(index), rules_(rules) {}

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

  const EventGraph& events_;
  const Problem& problem_;
  Index& index_;
  std::vector<Candidate> candidates_;  // edges that were found and are not in the graph yet

 private:
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

  // `shown_by`: the reader of R1; kNone for R2 and R3. False if the order is known already.
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

  // Returns false if the edge is known already, or the index does not hold both its ends.
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

  const SaturationRules& rules_;
};

// Sweeps over what grew, round by round.
class RoundsWithClocks : Rules<SessionClocks> {
 public:
  RoundsWithClocks(const EventGraph& events, IncrementalOrder& order, KnownEdges& known,
                   const SaturationRules& rules, SessionClocks& clocks)
      : Rules(events, rules, clocks),
        order_(order),
        known_(known),
        dirty_(events.graph().vertices() / 64 + 1, 0),
        queued_(events.graph().vertices(), 0) {}

  // The first round visits all vertices.
  Ending run(Budget& budget) {
    next_.assign(order_.order().begin(), order_.order().end());
    for (; !next_.empty(); ++rounds_) {
      if (!sweep(budget)) return Ending::out_of_budget;
      if (!insert_candidates()) return Ending::cycle;
    }
    return Ending::fixpoint;
  }
  uint32_t rounds() const { return rounds_; }

 private:
  bool sweep(Budget& budget) {
    for (const Vertex v : next_) {
      set_dirty(v);
      queued_[v] = 0;
    }
    next_.clear();
    for (size_t word = 0; word < dirty_.size(); ++word) {
      while (dirty_[word] != 0) {  // pushed vertices are later, in this word or beyond
        const uint32_t bit = static_cast<uint32_t>(std::countr_zero(dirty_[word]));
        dirty_[word] &= dirty_[word] - 1;
        const Vertex v = order_.order()[word * 64 + bit];
        if (events_.is_event(v)) apply_rules(v);
        events_.graph().each_out(v, [&](Vertex next) {
          if (index_.join(v, next)) set_dirty(next);
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

  // Inserts the edges that the sweep found. False if one closes a cycle.
  bool insert_candidates() {
    const uint32_t edges_known = static_cast<uint32_t>(known_.edges.size());
    for (const Candidate& c : candidates_) {
      const Arc arc = c.edge.arc;
      if (index_.reaches(arc.from, arc.to)) continue;
      known_.add(c.edge, c.forced, edges_known, rounds_);
      if (!order_.insert(arc)) return false;
      if (index_.join(arc.from, arc.to) && !queued_[arc.to]) {
        queued_[arc.to] = 1;
        next_.push_back(arc.to);
      }
    }
    candidates_.clear();
    return true;
  }

  IncrementalOrder& order_;
  KnownEdges& known_;
  std::vector<uint64_t> dirty_;  // bitmap over positions: whether the vertex there grew since its
                                 // last visit
  std::vector<Vertex> next_;     // the vertices with which the next sweep begins
  std::vector<uint8_t> queued_;  // indexed by vertex: it is in next_ because of an edge
  uint32_t rounds_ = 0;
};

// Sweeps over everything, round by round. An edge counts from the point where it was found; if it
// contradicts the order of the round, from the next round on.
class RoundsInWindow : Rules<Closure> {
 public:
  RoundsInWindow(EventGraph& events, IncrementalOrder& order, KnownEdges& known,
                 const SaturationRules& rules, Closure& closure)
      : Rules(events, rules, closure), graph_(events.graph()), order_(order), known_(known) {}

  // Stops early: the last rounds find few edges, which the search can do without.
  Ending run(Budget& budget) {
    constexpr size_t kFew = 64;  // vertices per edge
    const size_t vertices = graph_.vertices();
    for (size_t found = vertices; found * kFew >= vertices; ++rounds_) {
      const size_t before = known_.edges.size();
      if (!sweep(budget)) return Ending::out_of_budget;
      found = known_.edges.size() - before;
      if (found == 0) break;
      if (!restore_order(before)) return Ending::cycle;
    }
    return Ending::fixpoint;
  }
  uint32_t rounds() const { return rounds_; }

 private:
  bool sweep(Budget& budget) {
    if (!index_.start(order_.order(), budget)) return false;
    for (const Vertex v : order_.order()) {
      index_.visit(v);
      if (!events_.is_event(v)) continue;
      apply_rules(v);
      for (const Candidate& c : candidates_) {
        if (index_.reaches(c.edge.arc.from, c.edge.arc.to)) continue;
        known_.add(c.edge, c.forced, static_cast<uint32_t>(known_.edges.size()), rounds_);
        graph_.add(c.edge.arc);
        index_.note(c.edge.arc);
      }
      candidates_.clear();
      if (budget.exhausted()) return false;
    }
    return true;
  }

  // Returns false if there is no topological order, and the last known edge closes a cycle.
  bool restore_order(size_t edges_in_order) {
    std::vector<uint32_t> rank(graph_.vertices());
    for (Vertex v = 0; v < rank.size(); ++v) rank[v] = order_.position(v);
    if (const auto order = topological_order(graph_, rank); order.size() == rank.size()) {
      order_.renew(order);
      return true;
    }
    for (size_t i = edges_in_order; i < known_.edges.size(); ++i) graph_.pop();
    size_t first = edges_in_order;
    while (order_.insert(known_.edges[first].arc)) ++first;
    known_.edges.resize(first + 1);
    return false;
  }

  Digraph& graph_;
  IncrementalOrder& order_;
  KnownEdges& known_;
  uint32_t rounds_ = 0;
};

}  // namespace

Saturation::Saturation(EventGraph& events, IncrementalOrder& order, KnownEdges& known,
                       SaturationRules rules)
    : events_(events), order_(order), known_(known), rules_(rules), clocks_(events) {}

Saturation::Result Saturation::run(Budget& budget) {
  const size_t vertices = events_.graph().vertices();
  if (!budget.has_room((2 * sizeof(Vertex) + 1) * vertices)) return Result::out_of_budget;
  const auto run = [&](auto rounds) {
    const Result result = rounds.run(budget);
    rounds_ = rounds.rounds();
    return result;
  };
  if (!clocks_.affordable()) {
    Closure closure(events_, rules_.window);
    return run(RoundsInWindow(events_, order_, known_, rules_, closure));
  }
  if (!clocks_.start(budget)) return Result::out_of_budget;
  return run(RoundsWithClocks(events_, order_, known_, rules_, clocks_));
}

}  // namespace assay::internal
