// Saturation: derives every version order that known edges force, to a fixpoint. See saturation.cc.
#pragma once

#include <cstdint>
#include <vector>

#include "assay/budget.h"
#include "graph/incremental_order.h"
#include "infer/event_graph.h"
#include "infer/known_edges.h"

namespace assay::internal {

// Which rules apply; saturation.cc says what they are. Without one less is derived, and more left to search.
struct SaturationRules {
  bool anti_dependencies = true;
  bool write_dependencies = true;
  bool begins = true;
  bool combined_writes = true;
};

class Saturation {
 public:
  enum class Result : uint8_t { fixpoint, cycle, out_of_budget };

  // Adds derived edges to the graph of `events` through `order`, which is kept topological.
  Saturation(const EventGraph& events, IncrementalOrder& order, KnownEdges& known,
             SaturationRules rules = {});

  // Clocks cost events × sessions words; false if that is beyond what is sensible, then do not run.
  bool affordable() const;
  Result run(Budget& budget);

  // After Result::cycle: the edge that closed it. It is known().edges.back(), not in the graph;
  // order.path_back() leads back from its head to its tail.
  const DerivedEdge& closing_edge() const { return known_.edges.back(); }

  // True if known edges lead from the event of `n` at which it reads (write == false) or writes to
  // `v`. Only for nodes on a chain.
  bool reaches(Node n, bool write, Vertex v) const;
  // True if known edges lead from the writes of one to those of the other. Nodes on no chain are ordered with those
  // that reach them only.
  bool ordered(Node a, Node b) const {
    return (on_chain(a) && reaches(a, true, events_.write_event(b))) ||
           (on_chain(b) && reaches(b, true, events_.write_event(a)));
  }
  // Of each chain the last writer of the key that known edges put before the reads of `reader`, itself aside. After run().
  void last_writers_before(Node reader, KeyId key, std::vector<Node>& writers) const;
  bool on_chain(Node n) const { return chain_[n] != kNone; }
  uint32_t rounds() const { return rounds_; }

 private:
  // Writers of one key in one session, in session order.
  struct Segment {
    uint32_t chain;
    uint32_t begin, end;  // into segment_writes_ and segment_index_
  };
  struct Candidate {
    DerivedEdge edge;
    ForcedOrder forced;
  };

  void index_chains();
  void index_segments();
  uint32_t read_mark(Node n) const;
  uint32_t write_mark(Node n) const;
  uint32_t overwrite_mark(Node n) const;
  uint32_t start_mark(Node n) const;
  uint32_t* clock(Vertex v) { return clocks_.data() + size_t{v} * chains_; }
  const uint32_t* clock(Vertex v) const { return clocks_.data() + size_t{v} * chains_; }
  WriteId last_within(const Segment& segment, uint32_t index_bound) const;
  uint32_t writes_within(uint32_t mark) const;
  uint32_t overwrites_within(uint32_t mark) const;
  uint32_t starts_within(uint32_t mark) const;

  bool sweep(Budget& budget);
  void push_clock(Vertex from, Vertex to);
  bool join(Vertex from, Vertex to);
  void set_dirty(Vertex v);
  void apply_rules(Vertex v);
  void earlier_writers_of_read(Node reader, const ExternalRead& read, const uint32_t* before);
  void earlier_writers_of_write(WriteId write, const uint32_t* before);
  void combine_writes(Node n);
  void readers_precede(WriteId earlier, WriteId write, Node shown_by = kNone);
  bool insert_candidates();

  const EventGraph& events_;
  const Problem& problem_;
  IncrementalOrder& order_;
  KnownEdges& known_;
  const SaturationRules rules_;
  uint32_t chains_ = 0;
  std::vector<uint32_t> chain_;        // per node; kNone: on none
  std::vector<uint32_t> chain_index_;  // per node: place in its chain
  std::vector<WriteId> previous_;      // per write: the one before it of the same key and chain
  Rows<Segment> segments_;             // per key
  std::vector<WriteId> segment_writes_;
  std::vector<uint32_t> segment_index_;  // places of their nodes in the chain, ascending
  std::vector<uint32_t> clocks_;
  std::vector<uint32_t> examined_;      // per event: its clock when the rules last looked
  std::vector<uint64_t> dirty_;         // bitmap over positions: grown since the last visit
  std::vector<Vertex> dirty_vertices_;  // for the next sweep
  std::vector<uint8_t> queued_;         // per vertex: in dirty_vertices_
  std::vector<Candidate> candidates_;
  uint32_t rounds_ = 0;
};

}  // namespace assay::internal
