// Everything that a history leaves open at a level with a total order of events, as choices of the search: which of two
// writers of a key came first, which writer an operation saw, and who of those with an unknown outcome took effect. See
// choices.cc.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "assay/certificate.h"
#include "infer/event_graph.h"
#include "infer/open_reads.h"
#include "infer/saturation.h"
#include "levels/list_choices.h"
#include "solver/choice_solver.h"

namespace assay::internal {

class Choices {
 public:
  // `open`: the reads with several possible sources; those that the problem assumes are not among them. May
  // be null. `saturation`: has reached its fixpoint on the graph; or null.
  Choices(const EventGraph& events, const OpenReads* open, const Saturation* saturation);

  // More reads were added to these. They are the same but for that.
  void take_in(const OpenReads& more);

  // Whether every read returns in this order what it did, and no writers overlap that must not. Helper vertices are
  // passed over. Nobody of unknown outcome takes effect but those that the search decided on.
  bool explained_by(std::span<const Vertex> order);
  // Adds to the search what keeps it from this order again; not all of it if the budget runs out. False if nothing is wrong
  // with the order.
  bool add_what_fails(std::span<const Vertex> order, ChoiceSolver& solver, Budget& budget);

  // Whether a node takes effect in the last order that was looked at.
  bool takes_effect(Node n) const { return !is_possible(n) || effective_[n] != 0; }

  // What the numbers of the search mean.
  Literal literal(Side side) const {
    return side % 2 == 0 ? literals_[side / 2] : !literals_[side / 2];
  }
  // The edge of a side that has one.
  Edge edge(Arc arc, Side side) const;
  const Edge& conditional_edge(uint32_t number) const { return conditional_[number].edge; }
  std::span<const Literal> conditions(uint32_t number) const { return conditional_[number].given; }
  const ProofStep& clause(uint32_t number) const { return clauses_[number]; }

  size_t size() const { return literals_.size(); }

 private:
  struct Conditional {
    Edge edge;
    std::vector<Literal> given;  // what it needs besides the order that the edge itself assumes
  };
  // Something wrong with an order. pair: two writers. source: an open read saw what `writer` left (kNone: the initial
  // state), which is none of its sources. intruder: a read whose source is known saw what `writer` left, who may take
  // effect. time: `first`, who may take effect, began before `writer` ended, and comes after it. list: a read of a list
  // saw another one.
  struct Failure {
    enum class Kind : uint8_t { pair, source, intruder, time, list };
    Kind kind;
    Node first;     // pair: the earlier one. source: unused. intruder: the reader
    Node writer;    // pair: the later one
    uint32_t read;  // source: index of the open read. intruder: index into the reader's reads
    // source: the choices that the search has taken, and whom they mean.
    std::vector<std::pair<uint32_t, Node>> taken = {};
    OpenLists::Place list = {};  // list
  };
  class Lists;

  void note_settled();
  bool is_possible(Node n) const { return !possible_.empty() && possible_[n] != 0; }
  std::span<const KeyId> writes_of(Node n) const;
  std::vector<Failure> find(std::span<const Vertex> order);
  void look_at_reads(Node n, std::vector<Failure>& found) const;
  void look_at_clock(Node n, std::vector<Failure>& found) const;
  void note_commit(Node n);
  bool is_source(const OpenRead& read, Node writer) const;

  void look_at_lists(Node n, std::vector<Failure>& found) const;

  void add(const Failure& failure, ChoiceSolver& solver);
  void note_placed(std::span<const Failure> found, ChoiceSolver& solver);
  void add_list_rules(OpenLists::Place place, ChoiceSolver& solver);
  void add_sources(uint32_t read, ChoiceSolver& solver);
  void add_rules(const Failure& failure, ChoiceSolver& solver);
  Side order_of(Node before, Node after, ChoiceSolver& solver);
  Side effect_of(Node n, ChoiceSolver& solver);
  void add_effects(std::span<const Node> nodes, std::vector<Side>& sides, ChoiceSolver& solver);
  void add_conditional(Arc arc, Edge edge, std::span<const Side> sides, ChoiceSolver& solver);
  void side_edges(Node a, Node b, std::vector<Arc>& arcs) const;
  KeyId shared_key(Node a, Node b) const;
  Node node_of(TxnId t) const { return t == kNone ? kNone : problem_.node_of(t); }

  const EventGraph& events_;
  const Problem& problem_;
  const OpenReads* open_;
  const Saturation* saturation_;
  std::vector<uint8_t> possible_;   // per node that may take effect; empty: there are none
  std::vector<uint8_t> effective_;  // likewise: takes effect in the order that is looked at
  std::unordered_map<Node, std::vector<KeyId>> possible_writes_;  // ascending
  std::vector<uint8_t> settled_;  // per open read: the reads-from relation assumes its source

  std::vector<Literal> literals_;               // per choice of the search: its first side
  std::vector<std::pair<Node, Node>> pair_of_;  // per choice between two writers
  std::vector<Conditional> conditional_;
  std::vector<ProofStep> clauses_;
  std::unordered_map<uint64_t, uint32_t> pairs_;  // choice, by the lower and the higher node
  std::unordered_map<Node, uint32_t> effects_;    // choice
  // Per open read that was made a choice: the choice of each source, and the source.
  std::unordered_map<uint32_t, std::vector<std::pair<uint32_t, Node>>> sources_;

  std::optional<ListChoices> lists_;  // none: no reads are open
  // Of a list that was read wrongly in the order that is looked at: where the search has placed its blocks.
  struct PlacedList {
    std::vector<ListChoices::Placed> blocks;
    bool compared = false;  // what keeps blocks apart, or in order, was added
    bool overlap = false;
  };
  // By list. Only those whose choices had been made before this order.
  std::unordered_map<uint32_t, PlacedList> placed_;

  // Of the order that is looked at.
  std::vector<Node> current_;  // per key: whose version is in force; kNone: the initial one
  std::optional<AppendedLists> appended_;  // none: no reads are open
  // The level orders begins before commits by the clock, and somebody may take effect.
  bool begins_bind_ = false;
  Node latest_ = kNone;          // of those whose writes are done, who ended last
  std::vector<Node> latest_of_;  // the same per session
  std::vector<uint32_t> place_;  // per vertex
};

}  // namespace assay::internal
