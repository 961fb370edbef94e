// The open questions of a history, as propositions of a search: which of two writers of a key came
// first, which writer an operation saw, where a block of a list begins, and which transactions of
// unknown outcome took effect. See search.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "assay/certificate.h"
#include "assay/level.h"
#include "infer/event_graph.h"
#include "infer/open_reads.h"
#include "infer/session_clocks.h"
#include "infer/stages.h"
#include "solver/choice_solver.h"

namespace assay::internal {

class Search {
 public:
  // A possible source of an open read, as a choice; kNone: the initial state.
  struct Source {
    Side side;
    TxnId txn;
  };
  // Indexed by vertex: its place in an order.
  using Places = std::span<const uint32_t>;

  // Examines an order and adds to the search what excludes it. False if nothing is wrong with the
  // order, or nothing can be said.
  using FinalCheck = std::function<bool(std::span<const Vertex> order)>;
  enum class Result : uint8_t { found, contradiction, out_of_budget, too_hard };

  // `order`: a topological order of `graph`, whose edges hold whatever is chosen. `events`: for a
  // level with a total order of events; null: each vertex is a transaction. `open`: may be null.
  // `clocks`: at the fixpoint of saturation; may be null.
  Search(const Problem& problem, const LevelInfo& level, const EventGraph* events,
         const OpenReads* open, const SessionClocks* clocks, Digraph& graph,
         IncrementalOrder& order, const Locality& local);

  // To be called before anything is added: edges that are not required, but make the search
  // smaller. They hold until something contradicts them (ChoiceSolver::assume), and no refutation
  // rests on them.
  void assume(std::span<const Arc> edges);

  // Solves and checks in turn, until the check adds nothing (found), the choices contradict each
  // other, the budget is spent, or there were more conflicts than `most_conflicts` (too_hard).
  Result run(const FinalCheck& check, uint64_t most_conflicts, Stages& stages, Budget& budget);
  std::vector<RefutationStep> refutation() const { return solver_.refutation(); }

  // To be called when reads were added: `more` is the former reads and the new ones.
  void take_in(const OpenReads& more) { open_ = &more; }

  Vertex read_event(TxnId t) const {
    return events_ == nullptr ? t : events_->read_event(problem_.node_of(t));
  }
  Vertex write_event(TxnId t) const {
    return events_ == nullptr ? t : events_->write_event(problem_.node_of(t));
  }
  // Whether the transaction is one of unknown outcome that may take effect.
  bool is_possible(TxnId t) const { return !possible_.empty() && possible_[t] != 0; }
  // The keys that the transaction writes, ascending.
  std::span<const KeyId> writes_of(TxnId t) const;

  // The side that says that the transaction takes effect; it becomes a choice when it is first
  // asked for.
  Side effect_of(TxnId t);
  Side order_of(TxnId before, TxnId after);
  Side add_block(const Literal& block, bool prefer);
  // Makes a choice of each source of an open read, those before its place in an order first, the
  // nearest first of all; adds that one of them holds, and that the source took effect and came
  // before the reader. `from`: a place to be used instead of the reader's own.
  void add_sources(uint32_t read, Places places, std::optional<uint32_t> from = {});
  // The sources of an open read; empty if they are not choices yet.
  std::span<const Source> sources_of(uint32_t read) const;
  // Whether the transaction takes effect in the current state of the search: certainly, or because
  // that side was chosen.
  bool takes_effect(TxnId t) const;
  bool taken(Side side) const { return solver_.first_taken(side / 2) == (side % 2 == 0); }

  // Adds an edge that holds while these sides do, and its ends take effect.
  void add_edge(Edge edge, std::vector<Side> sides);
  // Adds that one of these sides holds. The step says why; its clause is filled in here.
  void add_clause(std::span<const Side> sides, ProofStep step);
  // The same if several steps, which refer to each other, lead to a last one that is the clause.
  void add_clause(std::span<const Side> sides, std::vector<ProofStep> steps);

  // The next functions tell what the numbers of the solver mean.
  size_t size() const { return literals_.size(); }
  Literal literal(Side side) const {
    return side % 2 == 0 ? literals_[side / 2] : !literals_[side / 2];
  }
  std::vector<Literal> literals_of(std::span<const Side> sides) const;
  // The edge of an arc under a side, if the side has one.
  Edge edge(Arc arc, Side side) const;
  const Edge& conditional_edge(uint32_t number) const { return conditional_[number].edge; }
  std::span<const Side> conditions(uint32_t number) const { return conditional_[number].sides; }
  // Appends the steps of a clause to a proof.
  void append_clause(uint32_t number, Proof& proof) const;

 private:
  struct Conditional {
    Edge edge;
    std::vector<Side> sides;
  };

  Vertex overwrite_event(TxnId t) const {
    return events_ == nullptr ? t : events_->overwrite_event(problem_.node_of(t));
  }
  Arc arc_of(const Edge& edge) const;
  Edge order_edge(TxnId before, TxnId after) const;
  void side_edges(TxnId before, TxnId after, std::vector<Arc>& arcs) const;

  const Problem& problem_;
  const LevelInfo& level_;
  const EventGraph* events_;
  const OpenReads* open_;
  const SessionClocks* clocks_;
  IncrementalOrder& order_;
  ChoiceSolver solver_;
  std::vector<uint8_t> possible_;  // indexed by transaction; empty: none is possible
  std::unordered_map<TxnId, std::vector<KeyId>> possible_writes_;

  std::vector<Literal> literals_;  // indexed by choice of the solver: its first side
  std::vector<Conditional> conditional_;
  std::vector<std::vector<ProofStep>> clauses_;
  std::unordered_map<uint64_t, uint32_t> pairs_;  // choices, by the lower and the higher
                                                  // transaction
  std::unordered_map<TxnId, uint32_t> effects_;   // choices
  std::unordered_map<uint32_t, std::vector<Source>> sources_;  // by open read
};

// Say that the operations of an open read saw what a source left: as an edge, and as a proposition.
Edge read_edge(const OpenRead& read, TxnId source);
Literal seen(const OpenReads& open, const OpenRead& read, TxnId source);

// Whether the source of a read comes before its reader. At Adya's levels another transaction may,
// for a key that a range did not return: the last one that changed the match.
bool precedes_reader(const History& history, const LevelInfo& level, const OpenRead& read);

// Appends the steps of a refutation to a proof; `add_cycle` appends those of a step that is a
// cycle, given by its index, with its clause last.
void append_refutation(std::span<const RefutationStep> steps, const Search& search, Proof& proof,
                       const std::function<void(size_t)>& add_cycle);
// Appends steps that refer to each other.
void append_steps(std::span<const ProofStep> steps, Proof& proof);

}  // namespace assay::internal
