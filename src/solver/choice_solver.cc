// Conflict-driven clause learning with acyclicity as the theory.
//
//   choice 0: {a→b} or {b→a}      known: b→c, c→a
//   taking a→b closes a→b→c→a: the lemma "not side 0" is learnt, side 1 follows, no cycle
//
// The classical search (decide a side, propagate, learn from conflicts, jump back) works on one
// Boolean per choice. When a side is taken its edges go into the graph, whose topological order is
// maintained (IncrementalOrder): an edge that agrees with the order costs a comparison, one that
// closes a cycle yields the lemma "not all of these sides together" with the cycle as its
// justification. Backtracking takes edges out and leaves the order alone, so the order comes to
// agree with a good schedule; the side tried first is the one that agrees with it.
//
// A history's conflicts are local, so the choices are decided in the order of time (DecisionOrder),
// and a conflict that would jump far back undoes only the last decision: its consequence is then
// assigned late, above the level that implies it, and survives backtracking to that level
// ("Chronological backtracking", SAT 2018). New choices are probed one by one before anything is
// decided, since many have a side that known edges forbid. A search that has had as many conflicts
// as choices is hard for another reason, and continues by activity, with restarts.
//
// Edges that are assumed for convenience are decided before all choices, as MiniSat does with
// assumptions: a conflict that is reached without a choice shows a core of them that cannot all
// hold. These are given up, and the search goes on with the learnt clauses.
//
// Every clause keeps its origin, a cycle or the clauses it was resolved from: a contradiction can
// then be written down and re-checked by unit propagation alone. Learnt facts (level 0) get a
// separate unit clause, which keeps derivations short.
//
// Sources: MiniSat (SAT 2003) for the search, "SAT modulo graphs: acyclicity" (ECAI 2014) and
// VeriStrong (VLDB 2026) for acyclicity next to it, LRAT for hints. Cost: exponential at worst; on
// histories a few conflicts.

#include "solver/choice_solver.h"

#include <algorithm>
#include <cassert>

#include "base/invariants.h"
#include "base/room.h"

namespace assay::internal {
namespace {

constexpr uint32_t kInPlace = 0xFFFFFFFF;  // the side was not assigned late
constexpr uint64_t kRestartUnit = 128;

// The Luby sequence, 1 1 2 1 1 2 4 1 1 2 … (Luby, Sinclair and Zuckerman 1993).
uint64_t luby(uint64_t i) {
  for (;;) {
    uint64_t power = 1;
    while (power < i + 2) power *= 2;
    if (power == i + 2) return power / 2;
    i -= power / 2 - 1;
  }
}

}  // namespace

ChoiceSolver::ChoiceSolver(Digraph& graph, IncrementalOrder& order, const Locality& local)
    : graph_(graph),
      order_(order),
      local_(local),
      known_added_(static_cast<uint32_t>(graph.added())) {}

ChoiceSolver::~ChoiceSolver() {
  for (size_t i = 0; i < added_.size(); ++i) order_.pop();
}

void ChoiceSolver::assume(std::span<const Arc> edges) {
  assert(choices() == assumptions_);
  assumptions_ = add_choice(edges, {}, true) + 1;
}

uint32_t ChoiceSolver::add_choice(std::span<const Arc> first, std::span<const Arc> second,
                                  bool prefer_first) {
  const uint32_t choice = static_cast<uint32_t>(choices());
  arcs_.insert(arcs_.end(), first.begin(), first.end());
  arc_begin_.push_back(static_cast<uint32_t>(arcs_.size()));
  arcs_.insert(arcs_.end(), second.begin(), second.end());
  arc_begin_.push_back(static_cast<uint32_t>(arcs_.size()));
  value_.insert(value_.end(), 2, kOpen);
  watches_.resize(value_.size());
  waiting_.resize(value_.size());
  reason_.push_back(kNoClause);
  assigned_level_.push_back(0);
  position_.push_back(0);
  group_.push_back(kNoArc);
  implied_level_.push_back(kInPlace);
  unit_.push_back(kNoClause);
  phase_.push_back(prefer_first ? 0 : 1);
  seen_.push_back(0);
  next_.add();
  return choice;
}

void ChoiceSolver::group(std::span<const uint32_t> choices, Vertex anchor) {
  const uint32_t id = static_cast<uint32_t>(anchor_.size());
  anchor_.push_back(anchor);
  group_taken_.push_back(0);
  members_.emplace_back(choices.begin(), choices.end());
  for (uint32_t choice : choices) {
    group_[choice] = id;
    group_taken_[id] += value_[2 * choice] == kTrue;
  }
}

// To be watched, two of its sides must be open or taken: goes back as far as that requires.
uint32_t ChoiceSolver::add_clause(std::span<const Side> sides) {
  const uint32_t number = added_clauses_++;
  const uint32_t id = new_clause(sides);
  clauses_[id].given = number;
  if (empty_clause_ != kNoClause) return number;
  const auto begin = pool_.begin() + clauses_[id].begin, end = pool_.begin() + clauses_[id].end;
  const auto rank = [this](Side s) {  // false sides last, the most recently falsified first among
                                      // them
    return value_[s] == kFalse ? level_of(s) : 0xFFFFFFFF;
  };
  for (;;) {
    std::sort(begin, end, [&](Side a, Side b) { return rank(a) > rank(b); });
    const size_t first = sides.empty() || value_[*begin] != kFalse ? 0 : level_of(*begin);
    const size_t second = sides.size() < 2 || value_[begin[1]] != kFalse ? 0 : level_of(begin[1]);
    const uint32_t latest = static_cast<uint32_t>(std::max(first, second));
    if (latest == 0) break;
    backtrack(latest - 1);
  }
  watch(id);
  const bool no_first = sides.empty() || value_[*begin] == kFalse;
  const bool no_second = sides.size() < 2 || value_[begin[1]] == kFalse;
  if (!no_second) return number;
  if (level() > 0) backtrack(0);
  if (no_first) {
    finish_refutation(id);
  } else if (value_[*begin] == kOpen) {
    assign(*begin, id);
  } else if (unit_[*begin / 2] == kNoClause) {
    note_unit(*begin, id);
  }
  return number;
}

uint32_t ChoiceSolver::add_conditional(Arc arc, std::span<const Side> sides) {
  const uint32_t number = static_cast<uint32_t>(conditional_.size());
  const uint32_t begin = static_cast<uint32_t>(pool_.size());
  pool_.insert(pool_.end(), sides.begin(), sides.end());
  conditional_.push_back({arc, begin, static_cast<uint32_t>(pool_.size())});
  for (;;) {
    uint32_t latest = 0;
    for (Side s : sides) {
      if (!in_force(s)) {
        waiting_[s].push_back(number);
        return number;
      }
      latest = std::max(latest, level_of(s));
    }
    if (latest == 0) break;
    backtrack(latest - 1);
  }
  // All sides hold for good, and so does the edge.
  if (level() > 0) backtrack(0);
  if (order_.insert(arc)) {
    added_.push_back({arc, kKnownSide, number});
  } else {
    finish_refutation(add_cycle_lemma({arc, kKnownSide, number}));
  }
  return number;
}

// Whether the side is taken, and its edges are in the graph or are being inserted.
bool ChoiceSolver::in_force(Side side) const {
  return value_[side] == kTrue && position_[side / 2] < next_edges_;
}

void ChoiceSolver::note_taken(Side side, bool taken) {
  const uint32_t id = group_[side / 2];
  if (id == kNoArc || side % 2 != 0) return;
  group_taken_[id] += taken ? 1 : -1u;
  if (!taken && group_taken_[id] == 0)
    for (uint32_t other : members_[id]) next_.undone(other);
}

void ChoiceSolver::assign(Side side, uint32_t reason) {
  value_[side] = kTrue;
  value_[side ^ 1] = kFalse;
  reason_[side / 2] = reason;
  assigned_level_[side / 2] = level();
  position_[side / 2] = static_cast<uint32_t>(trail_.size());
  trail_.push_back(side);
  note_taken(side, true);
  if (level() == 0) note_unit(side, reason);
}

// A value at level 0 holds for good: derives it as a unit clause, from other units and its reason.
void ChoiceSolver::note_unit(Side side, uint32_t reason) {
  const Clause& from = clauses_[reason];
  if (from.end - from.begin == 1) {
    unit_[side / 2] = reason;
    return;
  }
  const uint32_t hint_begin = static_cast<uint32_t>(hints_.size());
  for (uint32_t i = from.begin; i < from.end; ++i) {
    if (pool_[i] != side) hints_.push_back(unit_[pool_[i] / 2]);
  }
  hints_.push_back(reason);
  const Side sides[] = {side};
  const uint32_t unit = new_clause(sides);
  clauses_[unit].hint_begin = hint_begin;
  clauses_[unit].hint_end = static_cast<uint32_t>(hints_.size());
  unit_[side / 2] = unit;
}

uint32_t ChoiceSolver::new_clause(std::span<const Side> sides) {
  const uint32_t id = static_cast<uint32_t>(clauses_.size());
  const uint32_t begin = static_cast<uint32_t>(pool_.size());
  pool_.insert(pool_.end(), sides.begin(), sides.end());
  clauses_.push_back({begin, static_cast<uint32_t>(pool_.size()), 0, 0, 0, 0, kNoArc});
  return id;
}

void ChoiceSolver::watch(uint32_t clause) {
  const Clause& c = clauses_[clause];
  if (c.end - c.begin < 2) return;
  watches_[pool_[c.begin]].push_back({clause, pool_[c.begin + 1]});
  watches_[pool_[c.begin + 1]].push_back({clause, pool_[c.begin]});
}

uint32_t ChoiceSolver::propagate() {
  while (next_clauses_ < trail_.size() || next_edges_ < trail_.size()) {
    while (next_clauses_ < trail_.size()) {
      const uint32_t conflict = propagate_clauses(trail_[next_clauses_++]);
      if (conflict != kNoClause) return conflict;
    }
    const uint32_t conflict = insert_edges(trail_[next_edges_]);
    if (conflict != kNoClause) return conflict;
  }
  if constexpr (kInvariantsChecked) check_propagated();
  return kNoClause;
}

void ChoiceSolver::check_invariants() const {
  if (value_.size() + clauses_.size() + pool_.size() > kMostChecked) return;
  size_t assigned = 0;
  for (uint32_t c = 0; c < choices(); ++c) {
    const Value first = value_[2 * c], second = value_[2 * c + 1];
    check_invariant((first == kOpen) == (second == kOpen) && (first == kOpen || first != second),
                    "one side of a choice is taken, or both are open");
    assigned += first != kOpen;
    check_invariant(seen_[c] == 0, "no choice is marked between two analyses");
  }
  check_invariant(assigned == trail_.size(), "the trail has each choice that was made");
  size_t at_level = 0;
  for (uint32_t i = 0; i < trail_.size(); ++i) {
    const Side side = trail_[i];
    const uint32_t choice = side / 2;
    const bool decides = at_level < level_begin_.size() && level_begin_[at_level] == i;
    at_level += decides;
    check_invariant(value_[side] == kTrue && position_[choice] == i,
                    "a side of the trail is taken");
    check_invariant(assigned_level_[choice] == at_level, "levels are those of the trail");
    check_invariant(implied_level_[choice] == kInPlace || implied_level_[choice] < at_level,
                    "a side that was assigned late is implied by a lower level");
    check_invariant((reason_[choice] == kNoClause) == decides, "a level begins with a decision");
    if (reason_[choice] == kNoClause) continue;
    const Clause& why = clauses_[reason_[choice]];
    bool has = false;
    for (uint32_t j = why.begin; j < why.end; ++j) {
      has = has || pool_[j] == side;
      check_invariant(
          pool_[j] == side || (value_[pool_[j]] == kFalse && position_[pool_[j] / 2] < i),
          "all other sides of a reason were false before");
    }
    check_invariant(has, "a reason has the side that it implies");
  }
  check_invariant(at_level == level_begin_.size(), "each level has a decision");
  check_invariant(edges_before_.size() == next_edges_ && next_edges_ <= trail_.size() &&
                      next_clauses_ <= trail_.size(),
                  "what is still to be propagated is the end of the trail");
  check_invariant(known_added_ + added_.size() == graph_.added(), "the graph has the edges noted");
  for (const SidedArc& arc : added_)
    for (const Side side : sides_of(arc))
      check_invariant(value_[side] == kTrue,
                      "edges in the graph are those of sides that are taken");
  for (uint32_t g = 0; g < members_.size(); ++g)
    check_invariant(
        group_taken_[g] == static_cast<uint32_t>(std::ranges::count_if(
                               members_[g], [&](uint32_t c) { return value_[2 * c] == kTrue; })),
        "a group knows how many of its first sides are taken");
}

// The same, and that no conflict was missed.
void ChoiceSolver::check_propagated() const {
  if (value_.size() + clauses_.size() + pool_.size() > kMostChecked) return;
  check_invariants();
  std::vector<uint32_t> watched(clauses_.size(), 0);
  for (Side side = 0; side < watches_.size(); ++side)
    for (const Watch& w : watches_[side]) {
      const Clause& c = clauses_[w.clause];
      ++watched[w.clause];
      check_invariant(pool_[c.begin] == side || pool_[c.begin + 1] == side,
                      "a clause is watched at its first two sides");
    }
  for (uint32_t id = 0; id < clauses_.size(); ++id) {
    check_invariant(watched[id] == 0 || watched[id] == 2, "a clause is watched twice");
    if (watched[id] == 0) continue;
    size_t open = 0, taken = 0;
    for (uint32_t i = clauses_[id].begin; i < clauses_[id].end; ++i) {
      open += value_[pool_[i]] == kOpen;
      taken += value_[pool_[i]] == kTrue;
    }
    // One open side may remain: going back by one level can open a side that made the clause true,
    // and leave a side that was false before. It is found when the open side becomes false.
    check_invariant(taken + open > 0, "after propagation no clause is false");
  }
  size_t edges = 0, conditional = 0;
  for (const Side side : trail_) edges += arc_begin_[side + 1] - arc_begin_[side];
  for (const Conditional& c : conditional_)
    conditional += std::all_of(pool_.begin() + c.begin, pool_.begin() + c.end,
                               [this](Side side) { return value_[side] == kTrue; });
  check_invariant(edges + conditional == added_.size(),
                  "after propagation the graph has all edges that hold");
}

uint32_t ChoiceSolver::propagate_clauses(Side side) {
  const Side falsified = side ^ 1;
  std::vector<Watch>& watches = watches_[falsified];
  size_t kept = 0;
  uint32_t conflict = kNoClause;
  for (size_t i = 0; i < watches.size(); ++i) {
    const Watch w = watches[i];
    if (conflict != kNoClause || value_[w.blocker] == kTrue) {
      watches[kept++] = w;
      continue;
    }
    const Clause& c = clauses_[w.clause];
    if (pool_[c.begin] == falsified) std::swap(pool_[c.begin], pool_[c.begin + 1]);
    const Side other = pool_[c.begin];
    if (value_[other] == kTrue) {
      watches[kept++] = {w.clause, other};
      continue;
    }
    bool moved = false;
    for (uint32_t j = c.begin + 2; j < c.end; ++j) {
      if (value_[pool_[j]] == kFalse) continue;
      std::swap(pool_[c.begin + 1], pool_[j]);
      watches_[pool_[c.begin + 1]].push_back({w.clause, other});
      moved = true;
      break;
    }
    if (moved) continue;
    watches[kept++] = w;
    if (value_[other] == kFalse) {
      conflict = w.clause;
    } else {
      assign(other, w.clause);
    }
  }
  watches.resize(kept);
  return conflict;
}

// Inserts the edges of `side`, the next side of the trail whose edges are not in the graph yet.
uint32_t ChoiceSolver::insert_edges(Side side) {
  edges_before_.push_back(static_cast<uint32_t>(added_.size()));
  ++next_edges_;
  for (uint32_t i = arc_begin_[side]; i < arc_begin_[side + 1]; ++i) {
    if (!order_.insert(arcs_[i])) return add_cycle_lemma({arcs_[i], side});
    added_.push_back({arcs_[i], side});
  }
  return waiting_[side].empty() ? kNoClause : insert_conditional(side);
}

// The conditional edges that waited for `side` now wait for another side, or hold.
uint32_t ChoiceSolver::insert_conditional(Side side) {
  std::vector<uint32_t>& waiting = waiting_[side];
  uint32_t conflict = kNoClause;
  size_t kept = 0;
  for (size_t i = 0; i < waiting.size(); ++i) {
    const uint32_t number = waiting[i];
    const Conditional& c = conditional_[number];
    const auto missing = conflict != kNoClause
                             ? pool_.begin() + c.end
                             : std::find_if(pool_.begin() + c.begin, pool_.begin() + c.end,
                                            [this](Side other) { return !in_force(other); });
    if (missing != pool_.begin() + c.end) {
      waiting_[*missing].push_back(number);
      continue;
    }
    waiting[kept++] = number;
    if (conflict != kNoClause) continue;
    const SidedArc arc{c.arc, kKnownSide, number};
    if (order_.insert(c.arc)) {
      added_.push_back(arc);
    } else {
      conflict = add_cycle_lemma(arc);
    }
  }
  waiting.resize(kept);
  return conflict;
}

// The sides that an edge of the search needs.
std::span<const Side> ChoiceSolver::sides_of(const SidedArc& arc) const {
  if (arc.conditional != kNoArc) {
    const Conditional& c = conditional_[arc.conditional];
    return {pool_.data() + c.begin, pool_.data() + c.end};
  }
  return {&arc.side, arc.side == kKnownSide ? 0u : 1u};
}

// `closing` failed to be inserted: the path back from its head and the edge itself are a cycle.
uint32_t ChoiceSolver::add_cycle_lemma(const SidedArc& closing) {
  const uint32_t cycle_begin = static_cast<uint32_t>(cycles_.size());
  std::vector<Side> clause;
  const auto take = [&](const SidedArc& arc) {
    cycles_.push_back(arc);
    for (const Side by : sides_of(arc))
      if (std::find(clause.begin(), clause.end(), by ^ 1) == clause.end()) clause.push_back(by ^ 1);
  };
  take(closing);
  const std::vector<Vertex>& path = order_.path_back();
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    const Arc arc{path[i], path[i + 1]};
    const uint32_t found = graph_.find(arc);
    const bool known = found == Digraph::kBuiltIn || found < known_added_;
    take(known ? SidedArc{arc, kKnownSide} : added_[found - known_added_]);
  }
  const uint32_t id = new_clause(clause);
  clauses_[id].cycle_begin = cycle_begin;
  clauses_[id].cycle_end = static_cast<uint32_t>(cycles_.size());
  fresh_lemma_ = id;
  return id;
}

void ChoiceSolver::backtrack(uint32_t to_level) {
  if (level() <= to_level) return;
  const size_t keep = level_begin_[to_level];
  const uint32_t edges_keep =
      keep < edges_before_.size() ? edges_before_[keep] : static_cast<uint32_t>(added_.size());
  while (added_.size() > edges_keep) {
    order_.pop();
    added_.pop_back();
  }
  edges_before_.resize(std::min(edges_before_.size(), keep));
  for (size_t i = trail_.size(); i-- > keep;) {
    const Side side = trail_[i];
    value_[side] = value_[side ^ 1] = kOpen;
    note_taken(side, false);
    if (implied_level_[side / 2] <= to_level) {
      survivors_.push_back(side);
    } else {
      implied_level_[side / 2] = kInPlace;
    }
    if (group_[side / 2] == kNoArc && side / 2 >= assumptions_)
      phase_[side / 2] = static_cast<uint8_t>(side & 1);
    next_.undone(side / 2);
    next_assumption_ = std::min(next_assumption_, side / 2);
  }
  trail_.resize(keep);
  level_begin_.resize(to_level);
  next_clauses_ = std::min(next_clauses_, keep);
  next_edges_ = std::min(next_edges_, keep);
  for (; !survivors_.empty(); survivors_.pop_back()) {
    const Side side = survivors_.back();
    if (implied_level_[side / 2] == to_level) implied_level_[side / 2] = kInPlace;
    assign(side, reason_[side / 2]);
  }
  if constexpr (kInvariantsChecked) check_invariants();
}

// The level to go back to when `to_level` is far below: one level, which keeps decisions in between
// that have nothing to do with the conflict.
uint32_t ChoiceSolver::retreat(uint32_t to_level) const {
  return local_.on && level() - to_level > local_.far ? level() - 1 : to_level;
}

// Finds the first unique implication point: resolves from the conflict until one side of the
// current level is left. `learnt` gets that side first; `hints` are the clauses used, in the order
// of propagation.
void ChoiceSolver::analyze(uint32_t conflict, std::vector<Side>& learnt,
                           std::vector<uint32_t>& hints, uint32_t& back_level) {
  std::vector<uint32_t> units;
  std::vector<uint32_t> marked;
  learnt.assign(1, 0);
  back_level = 0;
  uint32_t open = 0;
  size_t at = trail_.size();
  uint32_t clause = conflict;
  Side pivot = kKnownSide;
  for (;;) {
    hints.push_back(clause);
    for (uint32_t i = clauses_[clause].begin; i < clauses_[clause].end; ++i) {
      const Side side = pool_[i];
      if (side == pivot || seen_[side / 2]) continue;
      seen_[side / 2] = 1;
      marked.push_back(side / 2);
      if (assigned_level_[side / 2] == 0) {
        units.push_back(unit_[side / 2]);
        continue;
      }
      next_.bump(side / 2);
      if (assigned_level_[side / 2] == level()) {
        ++open;
      } else {
        learnt.push_back(side);
        back_level = std::max(back_level, assigned_level_[side / 2]);
      }
    }
    while (!seen_[trail_[at - 1] / 2] || assigned_level_[trail_[at - 1] / 2] != level()) --at;
    pivot = trail_[--at];
    if (--open == 0) break;
    clause = reason_[pivot / 2];
  }
  learnt[0] = pivot ^ 1;
  hints.insert(hints.end(), units.begin(), units.end());
  std::reverse(hints.begin(), hints.end());
  for (uint32_t choice : marked) seen_[choice] = 0;
}

// Ends the refutation with a clause that is false at level 0: every side in it has a unit clause.
void ChoiceSolver::finish_refutation(uint32_t clause) {
  const Clause& c = clauses_[clause];
  if (c.begin == c.end) {
    empty_clause_ = clause;
    return;
  }
  const uint32_t hint_begin = static_cast<uint32_t>(hints_.size());
  for (uint32_t i = c.begin; i < c.end; ++i) hints_.push_back(unit_[pool_[i] / 2]);
  hints_.push_back(clause);
  empty_clause_ = new_clause({});
  clauses_[empty_clause_].hint_begin = hint_begin;
  clauses_[empty_clause_].hint_end = static_cast<uint32_t>(hints_.size());
}

// The assumptions that a conflict rests on cannot all hold. Any of them may be the wrong one, so
// all are given up.
void ChoiceSolver::give_up_core(std::span<const Side> conflict) {
  std::vector<Side> work(conflict.begin(), conflict.end());
  std::vector<uint32_t> looked_at;
  while (!work.empty()) {
    const uint32_t choice = work.back() / 2;
    work.pop_back();
    if (seen_[choice] != 0 || assigned_level_[choice] == 0) continue;
    seen_[choice] = 1;
    looked_at.push_back(choice);
    if (choice < assumptions_) phase_[choice] = 1;
    if (reason_[choice] == kNoClause) continue;
    const Clause& why = clauses_[reason_[choice]];
    work.insert(work.end(), pool_.begin() + why.begin, pool_.begin() + why.end);
  }
  for (const uint32_t choice : looked_at) seen_[choice] = 0;
}

// Learns from a conflict whose latest sides were taken at the current level, and goes back.
uint32_t ChoiceSolver::resolve_conflict(uint32_t conflict) {
  ++conflicts_;
  std::vector<Side> learnt;
  std::vector<uint32_t> hints;
  uint32_t back_level = 0;
  analyze(conflict, learnt, hints, back_level);
  // The lemma itself may become useful again: it is watched at two sides of the highest levels.
  const Clause lemma = clauses_[conflict];
  if (conflict == fresh_lemma_ && lemma.end - lemma.begin >= 2) {
    std::partial_sort(
        pool_.begin() + lemma.begin, pool_.begin() + lemma.begin + 2, pool_.begin() + lemma.end,
        [this](Side a, Side b) { return assigned_level_[a / 2] > assigned_level_[b / 2]; });
    watch(conflict);
    fresh_lemma_ = kNoClause;
  }
  const bool core = learnt[0] / 2 < assumptions_;
  if (core) {
    give_up_core(learnt);
    backtrack(0);
  } else {
    backtrack(retreat(back_level));
  }
  uint32_t reason = conflict;
  if (hints.size() > 1 || clauses_[conflict].end - clauses_[conflict].begin != learnt.size()) {
    const uint32_t hint_begin = static_cast<uint32_t>(hints_.size());
    hints_.insert(hints_.end(), hints.begin(), hints.end());
    if (learnt.size() > 1) {  // the second watch must be the last to be undone
      const auto highest = std::max_element(
          learnt.begin() + 1, learnt.end(),
          [this](Side a, Side b) { return assigned_level_[a / 2] < assigned_level_[b / 2]; });
      std::iter_swap(learnt.begin() + 1, highest);
    }
    reason = new_clause(learnt);
    clauses_[reason].hint_begin = hint_begin;
    clauses_[reason].hint_end = static_cast<uint32_t>(hints_.size());
    watch(reason);
  }
  next_.decay();
  if (core && learnt.size() > 1) return kNoClause;
  // The opposite side survives as long as what implies it does.
  while (value_[learnt[0]] == kFalse && level() > back_level) {
    const uint32_t implied = std::min(implied_level_[learnt[0] / 2], level());
    backtrack(implied > back_level ? implied - 1 : back_level);
  }
  if (value_[learnt[0]] == kFalse) return reason;
  implied_level_[learnt[0] / 2] = level() > back_level ? back_level : kInPlace;
  assign(learnt[0], reason);
  return kNoClause;
}

// Goes back to the level at which `clause` became false; true if that is 0.
bool ChoiceSolver::contradicts(uint32_t clause) {
  uint32_t highest = 0;
  for (uint32_t i = clauses_[clause].begin; i < clauses_[clause].end; ++i) {
    highest = std::max(highest, assigned_level_[pool_[i] / 2]);
  }
  backtrack(highest);
  if (highest > 0) return false;
  ++conflicts_;
  finish_refutation(clause);
  return true;
}

// Learns from `conflict` and from what follows; false if everything is contradicted.
bool ChoiceSolver::learn(uint32_t conflict) {
  while (conflict != kNoClause) {
    if (contradicts(conflict)) return false;
    conflict = resolve_conflict(conflict);
  }
  return true;
}

void ChoiceSolver::take(uint32_t choice) {
  level_begin_.push_back(static_cast<uint32_t>(trail_.size()));
  assign(2 * choice + phase_[choice], kNoClause);
}

// Whether the choice has to be decided: of a group one is enough.
bool ChoiceSolver::wants_decision(uint32_t choice) const {
  return value_[2 * choice] == kOpen &&
         (group_[choice] == kNoArc || group_taken_[group_[choice]] == 0);
}

bool ChoiceSolver::decide() {
  while (next_assumption_ < assumptions_ && value_[2 * next_assumption_] != kOpen)
    ++next_assumption_;
  if (next_assumption_ < assumptions_) return take(next_assumption_), true;
  const uint32_t choice = next_.next([this](uint32_t c) { return wants_decision(c); });
  if (choice == DecisionOrder::kNothing) return false;
  ++decisions_;
  take(choice);
  return true;
}

// Sorts the choices by their current places in the order.
void ChoiceSolver::line_up() {
  std::vector<uint32_t> place(choices());
  for (uint32_t choice = 0; choice < choices(); ++choice) {
    uint32_t first = 0xFFFFFFFF;
    if (group_[choice] != kNoArc) first = order_.position(anchor_[group_[choice]]);
    for (const Side side : {2 * choice, 2 * choice + 1}) {
      if (group_[choice] != kNoArc || arc_begin_[side] == arc_begin_[side + 1]) continue;
      const Arc& arc = arcs_[arc_begin_[side]];
      first = std::min({first, order_.position(arc.from), order_.position(arc.to)});
    }
    place[choice] = first;
  }
  next_.line_up(place);
}

// Takes the preferred side of each new choice by itself: if known edges alone forbid it, the other
// side holds for good, which is cheaper to find out before anything is decided. False if that leads
// to a contradiction.
bool ChoiceSolver::probe(Budget& budget, uint64_t most_conflicts) {
  for (uint32_t choice : next_.line()) {
    if (choice < probed_ || !wants_decision(choice)) continue;
    if (arc_begin_[2 * choice + phase_[choice]] == arc_begin_[2 * choice + phase_[choice] + 1])
      continue;
    take(choice);
    for (uint32_t conflict = propagate(); conflict != kNoClause; conflict = propagate()) {
      if (!learn(conflict)) return false;
    }
    backtrack(0);
    if (!may_go_on(budget) || conflicts_ > most_conflicts) return true;
  }
  probed_ = static_cast<uint32_t>(choices());
  return true;
}

// Returns false if the budget ran out, or there is no memory for what the next conflict adds.
bool ChoiceSolver::may_go_on(Budget& budget) {
  constexpr size_t kMostOfOne = 4096;  // usually enough: a cycle may be longer
  return make_room(cycles_, kMostOfOne, budget) && make_room(pool_, kMostOfOne, budget) &&
         make_room(hints_, kMostOfOne, budget) && make_room(clauses_, kMostOfOne, budget) &&
         !budget.exhausted();
}

ChoiceSolver::Result ChoiceSolver::solve(Budget& budget, uint64_t most_conflicts) {
  if (empty_clause_ != kNoClause) return Result::contradiction;
  // With only a few new choices it is cheaper to keep the present line.
  const bool afresh = !local_.on || !next_.in_line() || choices() - probed_ > local_.few;
  if (afresh) backtrack(0);
  if (local_.on && !afresh) {
    next_.line_up_more();
    probed_ = static_cast<uint32_t>(choices());
  } else if (local_.on) {
    line_up();
    if (!probe(budget, most_conflicts)) return Result::contradiction;
    if (!may_go_on(budget) || conflicts_ > most_conflicts) return Result::out_of_budget;
  }
  const uint64_t hard = conflicts_ + choices();  // after this many conflicts they are not local
  uint64_t restarts = 0;
  uint64_t next_restart = (local_.on ? hard : conflicts_) + kRestartUnit * luby(restarts);
  for (;;) {
    const uint32_t conflict = propagate();
    if (conflict != kNoClause) {
      if (!learn(conflict)) return Result::contradiction;
      if (!may_go_on(budget) || conflicts_ > most_conflicts) return Result::out_of_budget;
    } else if (conflicts_ >= next_restart) {
      next_restart = conflicts_ + kRestartUnit * luby(++restarts);
      backtrack(0);
      if (next_.in_line()) next_.by_activity();
    } else if (!decide()) {
      return Result::acyclic;
    } else if (budget.exhausted()) {
      return Result::out_of_budget;
    }
  }
}

std::vector<RefutationStep> ChoiceSolver::refutation() const {
  std::vector<uint8_t> needed(clauses_.size(), 0);
  needed[empty_clause_] = 1;
  for (size_t id = clauses_.size(); id-- > 0;) {  // hints point to earlier clauses
    if (!needed[id]) continue;
    for (uint32_t i = clauses_[id].hint_begin; i < clauses_[id].hint_end; ++i)
      needed[hints_[i]] = 1;
  }
  std::vector<uint32_t> step_of(clauses_.size(), kNoClause);
  std::vector<RefutationStep> steps;
  for (uint32_t id = 0; id < clauses_.size(); ++id) {
    if (!needed[id]) continue;
    step_of[id] = static_cast<uint32_t>(steps.size());
    const Clause& c = clauses_[id];
    RefutationStep& step = steps.emplace_back();
    step.clause.assign(pool_.begin() + c.begin, pool_.begin() + c.end);
    step.given = c.given;
    step.cycle.assign(cycles_.begin() + c.cycle_begin, cycles_.begin() + c.cycle_end);
    for (uint32_t i = c.hint_begin; i < c.hint_end; ++i) step.hints.push_back(step_of[hints_[i]]);
  }
  return steps;
}

}  // namespace assay::internal
