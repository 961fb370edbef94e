// Conflict-driven clause learning with acyclicity as the theory.
//
//   choice 0: {a→b} or {b→a}      known: b→c, c→a
//   taking a→b closes a→b→c→a: the lemma "not side 0" is learnt, side 1 follows, the graph is
//   acyclic.
//
// The classical search (decide a side, propagate, learn from conflicts, jump back) works on one
// Boolean a choice. When a side is taken its edges go into the graph, whose topological order is
// maintained (IncrementalOrder): an edge that agrees with the order costs a comparison, one that
// closes a cycle yields the lemma "not all of these sides together" with the cycle as its
// justification. Backtracking takes edges out and leaves the order alone, so the order drifts
// towards a good schedule; the side tried first is the one that agrees with it.
//
// Every clause keeps what it came from, a cycle or the clauses it was resolved from, so that a
// contradiction can be written down and re-checked by unit propagation alone. Learnt facts (level
// 0) get a unit clause of their own, which keeps derivations short.
//
// Sources: MiniSat (SAT 2003) for the search, "SAT modulo graphs: acyclicity" (ECAI 2014) and
// VeriStrong (VLDB 2026) for acyclicity beside it, LRAT for hints. Cost: exponential at worst; on
// histories a few conflicts.

#include "solver/choice_solver.h"

#include <algorithm>

namespace assay {
namespace {

constexpr double kActivityDecay = 0.95;
constexpr double kActivityLimit = 1e100;
constexpr uint64_t kRestartUnit = 128;

// 1 1 2 1 1 2 4 1 1 2 … (Luby, Sinclair and Zuckerman 1993).
uint64_t luby(uint64_t i) {
  for (;;) {
    uint64_t power = 1;
    while (power < i + 2) power *= 2;
    if (power == i + 2) return power / 2;
    i -= power / 2 - 1;
  }
}

}  // namespace

ChoiceSolver::ChoiceSolver(Digraph& graph, IncrementalOrder& order)
    : graph_(graph), order_(order), known_added_(static_cast<uint32_t>(graph.added())) {}

ChoiceSolver::~ChoiceSolver() {
  for (size_t i = 0; i < added_side_.size(); ++i) order_.pop();
}

uint32_t ChoiceSolver::add_choice(std::span<const Arc> first, std::span<const Arc> second,
                                  bool prefer_first) {
  backtrack(0);
  const uint32_t choice = static_cast<uint32_t>(choices());
  arcs_.insert(arcs_.end(), first.begin(), first.end());
  arc_begin_.push_back(static_cast<uint32_t>(arcs_.size()));
  arcs_.insert(arcs_.end(), second.begin(), second.end());
  arc_begin_.push_back(static_cast<uint32_t>(arcs_.size()));
  value_.insert(value_.end(), 2, kOpen);
  watches_.resize(value_.size());
  reason_.push_back(kNoClause);
  assigned_level_.push_back(0);
  unit_.push_back(kNoClause);
  phase_.push_back(prefer_first ? 0 : 1);
  activity_.push_back(0);
  seen_.push_back(0);
  heap_at_.push_back(0xFFFFFFFF);
  heap_insert(choice);
  return choice;
}

void ChoiceSolver::assign(Side side, uint32_t reason) {
  value_[side] = kTrue;
  value_[side ^ 1] = kFalse;
  reason_[side / 2] = reason;
  assigned_level_[side / 2] = level();
  trail_.push_back(side);
  if (level() == 0) note_unit(side, reason);
}

// A value at level 0 holds for good: derive it as a unit clause, from units and its reason.
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
  clauses_.push_back({begin, static_cast<uint32_t>(pool_.size()), 0, 0, 0, 0});
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
  return kNoClause;
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

// The next side of the trail whose edges are not in the graph yet.
uint32_t ChoiceSolver::insert_edges(Side side) {
  edges_before_.push_back(static_cast<uint32_t>(added_side_.size()));
  ++next_edges_;
  for (uint32_t i = arc_begin_[side]; i < arc_begin_[side + 1]; ++i) {
    if (!order_.insert(arcs_[i])) return add_cycle_lemma(arcs_[i], side);
    added_side_.push_back(side);
  }
  return kNoClause;
}

// `closing` failed to be inserted: the path back from its head and the edge itself are a cycle.
uint32_t ChoiceSolver::add_cycle_lemma(Arc closing, Side side) {
  const uint32_t cycle_begin = static_cast<uint32_t>(cycles_.size());
  std::vector<Side> clause;
  const auto take = [&](Arc arc, Side by) {
    cycles_.push_back({arc, by});
    if (by == kKnownSide) return;
    if (std::find(clause.begin(), clause.end(), by ^ 1) == clause.end()) clause.push_back(by ^ 1);
  };
  take(closing, side);
  const std::vector<Vertex>& path = order_.path_back();
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    const Arc arc{path[i], path[i + 1]};
    const uint32_t found = graph_.find(arc);
    const bool known = found == Digraph::kBuiltIn || found < known_added_;
    take(arc, known ? kKnownSide : added_side_[found - known_added_]);
  }
  const uint32_t id = new_clause(clause);
  clauses_[id].cycle_begin = cycle_begin;
  clauses_[id].cycle_end = static_cast<uint32_t>(cycles_.size());
  return id;
}

void ChoiceSolver::backtrack(uint32_t to_level) {
  if (level() <= to_level) return;
  const size_t keep = level_begin_[to_level];
  const uint32_t edges_keep =
      keep < edges_before_.size() ? edges_before_[keep] : static_cast<uint32_t>(added_side_.size());
  while (added_side_.size() > edges_keep) {
    order_.pop();
    added_side_.pop_back();
  }
  edges_before_.resize(std::min(edges_before_.size(), keep));
  for (size_t i = keep; i < trail_.size(); ++i) {
    const Side side = trail_[i];
    value_[side] = value_[side ^ 1] = kOpen;
    phase_[side / 2] = static_cast<uint8_t>(side & 1);
    if (heap_at_[side / 2] == 0xFFFFFFFF) heap_insert(side / 2);
  }
  trail_.resize(keep);
  level_begin_.resize(to_level);
  next_clauses_ = std::min(next_clauses_, keep);
  next_edges_ = std::min(next_edges_, keep);
}

void ChoiceSolver::bump(uint32_t choice) {
  if ((activity_[choice] += bump_) > kActivityLimit) {
    for (double& a : activity_) a /= kActivityLimit;
    bump_ /= kActivityLimit;
  }
  if (heap_at_[choice] != 0xFFFFFFFF) heap_up(heap_at_[choice]);
}

// First unique implication point: resolve from the conflict until one side of the current level is
// left. `learnt` gets that side first; hints are the clauses used, in the order of propagation.
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
      bump(side / 2);
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

// A clause that is false at level 0: everything in it has a unit clause.
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

void ChoiceSolver::resolve_conflict(uint32_t conflict) {
  ++conflicts_;
  std::vector<Side> learnt;
  std::vector<uint32_t> hints;
  uint32_t back_level = 0;
  analyze(conflict, learnt, hints, back_level);
  // The lemma itself may become useful again: watch it at two sides of the highest levels.
  const Clause lemma = clauses_[conflict];
  const bool fresh_lemma = lemma.cycle_begin != lemma.cycle_end && conflict + 1 == clauses_.size();
  if (fresh_lemma && lemma.end - lemma.begin >= 2) {
    std::partial_sort(
        pool_.begin() + lemma.begin, pool_.begin() + lemma.begin + 2, pool_.begin() + lemma.end,
        [this](Side a, Side b) { return assigned_level_[a / 2] > assigned_level_[b / 2]; });
    watch(conflict);
  }
  backtrack(back_level);
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
  assign(learnt[0], reason);
  bump_ /= kActivityDecay;
}

bool ChoiceSolver::decide() {
  while (!heap_.empty()) {
    const uint32_t choice = heap_pop();
    if (value_[2 * choice] != kOpen) continue;
    ++decisions_;
    level_begin_.push_back(static_cast<uint32_t>(trail_.size()));
    assign(2 * choice + phase_[choice], kNoClause);
    return true;
  }
  return false;
}

ChoiceSolver::Result ChoiceSolver::solve(Budget& budget, uint64_t most_conflicts) {
  if (empty_clause_ != kNoClause) return Result::contradiction;
  uint64_t restarts = 0;
  uint64_t next_restart = conflicts_ + kRestartUnit * luby(restarts);
  for (;;) {
    const uint32_t conflict = propagate();
    if (conflict != kNoClause) {
      if (level() == 0) {
        ++conflicts_;
        finish_refutation(conflict);
        return Result::contradiction;
      }
      // A lemma may lie entirely below the current level.
      uint32_t highest = 0;
      for (uint32_t i = clauses_[conflict].begin; i < clauses_[conflict].end; ++i) {
        highest = std::max(highest, assigned_level_[pool_[i] / 2]);
      }
      backtrack(highest);
      if (highest == 0) {
        ++conflicts_;
        finish_refutation(conflict);
        return Result::contradiction;
      }
      resolve_conflict(conflict);
      if (budget.exhausted() || conflicts_ > most_conflicts) return Result::out_of_budget;
    } else if (conflicts_ >= next_restart) {
      next_restart = conflicts_ + kRestartUnit * luby(++restarts);
      backtrack(0);
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
    step.cycle.assign(cycles_.begin() + c.cycle_begin, cycles_.begin() + c.cycle_end);
    for (uint32_t i = c.hint_begin; i < c.hint_end; ++i) step.hints.push_back(step_of[hints_[i]]);
  }
  return steps;
}

void ChoiceSolver::heap_up(uint32_t at) {
  const uint32_t choice = heap_[at];
  while (at > 0) {
    const uint32_t parent = (at - 1) / 2;
    if (activity_[heap_[parent]] >= activity_[choice]) break;
    heap_[at] = heap_[parent];
    heap_at_[heap_[at]] = at;
    at = parent;
  }
  heap_[at] = choice;
  heap_at_[choice] = at;
}

void ChoiceSolver::heap_down(uint32_t at) {
  const uint32_t choice = heap_[at];
  for (uint32_t child = 2 * at + 1; child < heap_.size(); child = 2 * at + 1) {
    if (child + 1 < heap_.size() && activity_[heap_[child + 1]] > activity_[heap_[child]]) ++child;
    if (activity_[heap_[child]] <= activity_[choice]) break;
    heap_[at] = heap_[child];
    heap_at_[heap_[at]] = at;
    at = child;
  }
  heap_[at] = choice;
  heap_at_[choice] = at;
}

void ChoiceSolver::heap_insert(uint32_t choice) {
  heap_.push_back(choice);
  heap_up(static_cast<uint32_t>(heap_.size()) - 1);
}

uint32_t ChoiceSolver::heap_pop() {
  const uint32_t top = heap_[0];
  heap_at_[top] = 0xFFFFFFFF;
  const uint32_t last = heap_.back();
  heap_.pop_back();
  if (!heap_.empty()) {
    heap_[0] = last;
    heap_down(0);
  }
  return top;
}

}  // namespace assay
