// Search for an acyclic choice: every choice has two sides, each a set of edges, and exactly one
// side is taken. Clauses say which sides exclude each other or must be taken; an edge may need
// several sides at once. See choice_solver.cc.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assay/budget.h"
#include "graph/incremental_order.h"
#include "solver/decision_order.h"

namespace assay::internal {

// A side of a choice: choice * 2 for the first, + 1 for the second. The other side is `side ^ 1`.
using Side = uint32_t;
inline constexpr Side kKnownSide = 0xFFFFFFFF;
inline constexpr uint32_t kNoArc = 0xFFFFFFFF;

struct SidedArc {
  Arc arc;
  Side side;                      // kKnownSide: a known edge, or a conditional one
  uint32_t conditional = kNoArc;  // the number that add_conditional gave
};

// A refutation: each step is a clause of sides, at least one of which must be taken. A lemma's
// clause is the negation of the sides on a cycle; a derived clause follows from earlier ones by
// unit propagation along `hints`.
struct RefutationStep {
  std::vector<Side> clause;
  std::vector<SidedArc> cycle;  // lemma; empty for other steps
  uint32_t given = kNoArc;      // the number of a clause that was added; kNoArc for other steps
  std::vector<uint32_t> hints;  // derived: indices of earlier steps
};

// How far a search relies on conflicts being between choices that are near each other in the order.
struct Locality {
  bool on = true;
  uint32_t far = 8;  // if a conflict would undo this many levels, only the last is undone
  size_t few =
      4;  // a later solve with at most this many new choices continues where the last one ended
};

class ChoiceSolver {
 public:
  enum class Result : uint8_t { acyclic, contradiction, out_of_budget };

  // The known edges are the ones that `graph` has now; `order` keeps the graph acyclic.
  ChoiceSolver(Digraph& graph, IncrementalOrder& order, const Locality& local = {});
  // Removes every edge that this object added to the graph; the order stays.
  ~ChoiceSolver();
  ChoiceSolver(const ChoiceSolver&) = delete;
  ChoiceSolver& operator=(const ChoiceSolver&) = delete;

  // Adds a choice, which is allowed after a solve, too. `prefer_first`: the first side is tried
  // first.
  uint32_t add_choice(std::span<const Arc> first, std::span<const Arc> second, bool prefer_first);
  size_t choices() const { return value_.size() / 2; }
  // To be called before all choices: edges that are assumed until something contradicts them. Each
  // set of them is a choice whose second side is empty. They are decided before anything else; sets
  // that cannot all hold (a core) are given up. No refutation rests on them, since nothing requires
  // their first sides.
  void assume(std::span<const Arc> edges);
  // Makes a group: one of these choices must take its first side. The search tries them in the
  // order given, decides one, and leaves the others open, which counts as their second sides. So
  // second sides have no edges and occur in no condition of an edge, and the only clause that
  // demands first sides is the one that says that one of them holds. `anchor` gives the place of
  // the group in time.
  void group(std::span<const uint32_t> choices, Vertex anchor);
  // Adds a clause: one of these sides must be taken. Returns its number, from 0.
  uint32_t add_clause(std::span<const Side> sides);
  // Adds an edge that holds while all these sides are taken. Returns its number, from 0.
  uint32_t add_conditional(Arc arc, std::span<const Side> sides);

  // Takes a side of every choice such that the graph with their edges is acyclic. After `acyclic`
  // the edges are in the graph and the order is one of the graph; a later solve may continue from
  // there. Also stops with out_of_budget once conflicts() passes `most_conflicts`.
  Result solve(Budget& budget, uint64_t most_conflicts = UINT64_MAX);
  bool first_taken(uint32_t choice) const { return value_[2 * choice] == kTrue; }

  // After `contradiction`: the steps that are needed; the last one has an empty clause.
  std::vector<RefutationStep> refutation() const;

  uint64_t conflicts() const { return conflicts_; }
  uint64_t decisions() const { return decisions_; }

  // That the trail, the values, the levels, the reasons, the groups and the edges of the graph say
  // the same.
  void check_invariants() const;

 private:
  enum Value : uint8_t { kFalse, kTrue, kOpen };
  struct Clause {
    uint32_t begin, end;              // sides: range of pool_
    uint32_t hint_begin, hint_end;    // range of hints_
    uint32_t cycle_begin, cycle_end;  // range of cycles_
    uint32_t given = kNoArc;          // if it was added from outside, its number
  };
  struct Conditional {
    Arc arc;
    uint32_t begin, end;  // sides: range of pool_
  };
  struct Watch {
    uint32_t clause;
    Side blocker;
  };

  uint32_t level() const { return static_cast<uint32_t>(level_begin_.size()); }
  void assign(Side side, uint32_t reason);
  uint32_t propagate();  // returns the conflicting clause, or kNoClause
  uint32_t propagate_clauses(Side side);
  uint32_t insert_edges(Side side);
  uint32_t insert_conditional(Side side);
  bool in_force(Side side) const;
  uint32_t add_cycle_lemma(const SidedArc& closing);
  std::span<const Side> sides_of(const SidedArc& arc) const;
  uint32_t new_clause(std::span<const Side> sides);
  void watch(uint32_t clause);
  void note_unit(Side side, uint32_t reason);
  void give_up_core(std::span<const Side> conflict);
  // Returns a clause that is still in conflict, or kNoClause.
  uint32_t resolve_conflict(uint32_t clause);
  bool contradicts(uint32_t clause);
  uint32_t retreat(uint32_t to_level) const;
  void analyze(uint32_t clause, std::vector<Side>& learnt, std::vector<uint32_t>& hints,
               uint32_t& back_level);
  void finish_refutation(uint32_t clause);
  void backtrack(uint32_t to_level);
  bool learn(uint32_t conflict);
  void take(uint32_t choice);
  bool decide();
  bool wants_decision(uint32_t choice) const;
  void note_taken(Side side, bool taken);
  uint32_t level_of(Side side) const { return assigned_level_[side / 2]; }
  void line_up();
  bool probe(Budget& budget, uint64_t most_conflicts);
  bool may_go_on(Budget& budget);
  void check_propagated() const;

  static constexpr uint32_t kNoClause = 0xFFFFFFFF;
  uint32_t assumptions_ = 0;      // this many choices, the first ones, are assumptions
  uint32_t next_assumption_ = 0;  // all assumptions before this one are taken
  Digraph& graph_;
  IncrementalOrder& order_;
  const Locality local_;
  uint32_t known_added_;                // number of known edges among the edges added to the graph
  std::vector<SidedArc> added_;         // edges added beyond those
  std::vector<uint32_t> arc_begin_{0};  // indexed by side
  std::vector<Arc> arcs_;

  std::vector<Value> value_;      // indexed by side
  std::vector<uint32_t> reason_;  // indexed by choice
  std::vector<uint32_t> assigned_level_;
  std::vector<uint32_t> position_;              // indexed by choice: its index in the trail
  std::vector<uint32_t> group_;                 // indexed by choice; kNoArc: it is in no group
  std::vector<Vertex> anchor_;                  // indexed by group
  std::vector<uint32_t> group_taken_;           // indexed by group: how many of its first sides are
                                                // taken
  std::vector<std::vector<uint32_t>> members_;  // indexed by group
  std::vector<uint32_t> implied_level_;  // indexed by choice: the level that implies it, if it was
                                         // assigned above that
  std::vector<Side> survivors_;          // sides that survive a backtrack, the latest first
  std::vector<uint32_t> unit_;           // indexed by choice: the unit clause of a level-0 value
  std::vector<uint8_t> phase_;           // indexed by choice: the side to try
  std::vector<uint8_t> seen_;
  DecisionOrder next_;
  uint32_t probed_ = 0;  // number of choices that were probed

  std::vector<Side> trail_;
  std::vector<uint32_t> edges_before_;  // indexed like the trail: edges in the graph before those
                                        // of the entry
  std::vector<uint32_t> level_begin_;
  size_t next_clauses_ = 0, next_edges_ = 0;

  std::vector<Clause> clauses_;
  std::vector<Side> pool_;
  std::vector<uint32_t> hints_;
  std::vector<SidedArc> cycles_;
  std::vector<std::vector<Watch>>
      watches_;  // indexed by side: clauses that watch it and are examined when it becomes false
  std::vector<Conditional> conditional_;
  // Indexed by side: conditional edges that are examined when it comes into force.
  std::vector<std::vector<uint32_t>> waiting_;
  uint32_t added_clauses_ = 0;
  uint32_t fresh_lemma_ = kNoClause;  // a lemma that is not watched yet
  uint32_t empty_clause_ = kNoClause;
  uint64_t conflicts_ = 0, decisions_ = 0;
};

}  // namespace assay::internal
