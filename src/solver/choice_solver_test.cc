#include "solver/choice_solver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/rng.h"

namespace assay::internal {
namespace {

using Arcs = std::vector<Arc>;

struct Problem {
  size_t vertices = 0;
  Arcs known;                                   // acyclic
  std::vector<Arcs> sides;                      // two a choice
  std::vector<std::vector<Side>> clauses = {};  // of each, a side must be taken
  struct Conditional {
    Arc arc;
    std::vector<Side> sides;  // all taken: the arc holds
  };
  std::vector<Conditional> conditional = {};
};

Arcs random_arcs(Rng& rng, size_t vertices, uint64_t most) {
  Arcs arcs;
  for (uint64_t i = 1 + rng.below(most); i > 0; --i) {
    const Vertex from = static_cast<Vertex>(rng.below(vertices));
    const Vertex step = static_cast<Vertex>(1 + rng.below(vertices - 1));
    arcs.push_back({from, static_cast<Vertex>((from + step) % vertices)});
  }
  return arcs;
}

Problem random_problem(Rng& rng, uint64_t most_choices = 8) {
  Problem problem;
  problem.vertices = 4 + rng.below(most_choices - 2);
  for (Arc arc : random_arcs(rng, problem.vertices, 4)) {
    if (arc.from < arc.to) problem.known.push_back(arc);
  }
  for (uint64_t i = 2 * (1 + rng.below(most_choices)); i > 0; --i) {
    problem.sides.push_back(random_arcs(rng, problem.vertices, 2));
  }
  return problem;
}

bool acyclic(const Problem& problem, const std::vector<Side>& taken) {
  Arcs arcs = problem.known;
  for (Side side : taken) {
    arcs.insert(arcs.end(), problem.sides[side].begin(), problem.sides[side].end());
  }
  const auto is_taken = [&](Side side) {
    return std::find(taken.begin(), taken.end(), side) != taken.end();
  };
  for (const Problem::Conditional& c : problem.conditional)
    if (std::all_of(c.sides.begin(), c.sides.end(), is_taken)) arcs.push_back(c.arc);
  for (const std::vector<Side>& clause : problem.clauses)
    if (std::none_of(clause.begin(), clause.end(), is_taken)) return false;
  return topological_order(Digraph(problem.vertices, arcs)).size() == problem.vertices;
}

// Tries every combination of sides of the first `choices` choices.
bool some_combination_is_acyclic(const Problem& problem, size_t choices) {
  for (uint32_t bits = 0; bits < 1u << choices; ++bits) {
    std::vector<Side> taken;
    for (uint32_t c = 0; c < choices; ++c) taken.push_back(2 * c + (bits >> c & 1));
    if (acyclic(problem, taken)) return true;
  }
  return false;
}

std::vector<Side> taken_sides(const ChoiceSolver& solver) {
  std::vector<Side> taken;
  for (uint32_t c = 0; c < solver.choices(); ++c)
    taken.push_back(2 * c + (solver.first_taken(c) ? 0 : 1));
  return taken;
}

bool contains(const Arcs& arcs, Arc arc) {
  return std::find(arcs.begin(), arcs.end(), arc) != arcs.end();
}

// A lemma: its arcs belong to their sides, close a cycle, and its clause negates just these sides.
void check_lemma(const Problem& problem, const RefutationStep& step) {
  std::set<Side> negated;
  for (size_t i = 0; i < step.cycle.size(); ++i) {
    const auto& [arc, side, conditional] = step.cycle[i];
    ASSERT_EQ(arc.to, step.cycle[(i + 1) % step.cycle.size()].arc.from);
    if (conditional != kNoArc) {
      ASSERT_EQ(arc, problem.conditional[conditional].arc);
      for (const Side needed : problem.conditional[conditional].sides) negated.insert(needed ^ 1);
      continue;
    }
    ASSERT_TRUE(contains(side == kKnownSide ? problem.known : problem.sides[side], arc));
    if (side != kKnownSide) negated.insert(side ^ 1);
  }
  ASSERT_EQ(std::set<Side>(step.clause.begin(), step.clause.end()), negated);
}

// A derived clause: with all its sides left, the hinted clauses become unit one after the other,
// and one of them false.
void check_derived(const std::vector<RefutationStep>& steps, size_t at) {
  std::set<Side> left;  // sides that are not taken; then the other one is
  for (Side side : steps[at].clause) left.insert(side);
  for (uint32_t hint : steps[at].hints) {
    ASSERT_LT(hint, at);
    std::vector<Side> open;
    for (Side side : steps[hint].clause) {
      if (!left.contains(side)) open.push_back(side);
    }
    if (open.empty()) return;
    ASSERT_EQ(open.size(), 1u) << "step " << at << ", hint " << hint;
    left.insert(open[0] ^ 1);
  }
  FAIL() << "step " << at << " does not follow";
}

void check_refutation(const Problem& problem, const std::vector<RefutationStep>& steps) {
  ASSERT_FALSE(steps.empty());
  ASSERT_TRUE(steps.back().clause.empty());
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].given != kNoArc) {
      const std::vector<Side>& given = problem.clauses[steps[i].given];
      ASSERT_EQ(std::set<Side>(steps[i].clause.begin(), steps[i].clause.end()),
                std::set<Side>(given.begin(), given.end()));
    } else if (steps[i].cycle.empty()) {
      check_derived(steps, i);
    } else {
      ASSERT_TRUE(steps[i].hints.empty());
      check_lemma(problem, steps[i]);
    }
    if (testing::Test::HasFatalFailure()) return;
  }
}

// Where undoing little and starting from the last solve happen on small problems too.
constexpr Locality kLocalities[] = {
    {.on = false}, {}, {.far = 0, .few = 1000}, {.far = 1, .few = 0}};

// A problem with a solver on it.
struct ProblemSearch {
  const Problem& problem;
  Digraph graph{problem.vertices, problem.known};
  IncrementalOrder order{graph, topological_order(graph)};
  Locality local{};
  std::optional<ChoiceSolver> solver{std::in_place, graph, order, local};
  Budget budget{};

  void add(size_t choice, bool prefer_first = true) {
    solver->add_choice(problem.sides[2 * choice], problem.sides[2 * choice + 1], prefer_first);
  }
  void add_all() {
    for (size_t c = 0; c < problem.sides.size() / 2; ++c) add(c);
  }
  void add_clause(size_t i) { solver->add_clause(problem.clauses[i]); }
  void add_conditional(size_t i) {
    solver->add_conditional(problem.conditional[i].arc, problem.conditional[i].sides);
  }
  ChoiceSolver::Result solve(uint64_t most_conflicts = UINT64_MAX) {
    return solver->solve(budget, most_conflicts);
  }
};

TEST(ChoiceSolver, TheExampleOfTheEssay) {
  const Problem problem = {3, {{1, 2}, {2, 0}}, {{{0, 1}}, {{1, 0}}}};
  ProblemSearch search{problem};
  search.add_all();
  EXPECT_EQ(search.solve(), ChoiceSolver::Result::acyclic);
  EXPECT_FALSE(search.solver->first_taken(0));
  EXPECT_EQ(search.solver->conflicts(), 1u);
}

TEST(ChoiceSolver, TheSidePreferredIsTakenWhereBothWillDo) {
  const Problem problem = {4, {}, {{{0, 1}}, {{1, 0}}, {{2, 3}}, {{3, 2}}}};
  ProblemSearch search{problem};
  search.add(0, true);
  search.add(1, false);
  ASSERT_EQ(search.solve(), ChoiceSolver::Result::acyclic);
  EXPECT_TRUE(search.solver->first_taken(0));
  EXPECT_FALSE(search.solver->first_taken(1));
  EXPECT_EQ(search.solver->conflicts(), 0u);
}

TEST(ChoiceSolver, AContradictionIsRefuted) {
  const Problem problem = {4, {{0, 1}, {2, 3}}, {{{1, 0}}, {{1, 2}}, {{3, 0}}, {{3, 2}}}};
  ProblemSearch search{problem};
  search.add_all();
  ASSERT_EQ(search.solve(), ChoiceSolver::Result::contradiction);
  check_refutation(problem, search.solver->refutation());
  EXPECT_EQ(search.solve(), ChoiceSolver::Result::contradiction);  // once and for all
}

TEST(ChoiceSolver, NoChoices) {
  const Problem problem = {2, {{0, 1}}, {}};
  ProblemSearch search{problem};
  EXPECT_EQ(search.solve(), ChoiceSolver::Result::acyclic);
}

TEST(ChoiceSolver, TheGraphIsGivenBackAsItWas) {
  const Problem problem = {3, {{0, 1}}, {{{1, 2}}, {{2, 0}}}};
  ProblemSearch search{problem};
  search.add_all();
  ASSERT_EQ(search.solve(), ChoiceSolver::Result::acyclic);
  EXPECT_EQ(search.graph.edges(), 2u);
  search.solver.reset();
  EXPECT_EQ(search.graph.edges(), 1u);
}

// Edges added to the graph before the search are as known as those it was built with.
TEST(ChoiceSolver, EdgesAddedBeforehandAreKnown) {
  const Problem problem = {3, {{0, 1}, {1, 2}}, {{{2, 0}}, {{2, 1}}}};
  Digraph graph(3, Arcs{{0, 1}});
  graph.add({1, 2});
  IncrementalOrder order(graph, topological_order(graph));
  ChoiceSolver solver(graph, order);
  solver.add_choice(problem.sides[0], problem.sides[1], true);
  Budget budget;
  ASSERT_EQ(solver.solve(budget), ChoiceSolver::Result::contradiction);
  check_refutation(problem, solver.refutation());
}

TEST(ChoiceSolver, AgreesWithTryingAllCombinations) {
  Rng rng(3);
  int contradictions = 0;
  constexpr int kRounds = 2000;
  for (int round = 0; round < kRounds; ++round) {
    const Problem problem = random_problem(rng);
    ProblemSearch search{.problem = problem, .local = kLocalities[round % 4]};
    search.add_all();
    const ChoiceSolver::Result result = search.solve();
    const bool possible = some_combination_is_acyclic(problem, problem.sides.size() / 2);
    ASSERT_EQ(result,
              possible ? ChoiceSolver::Result::acyclic : ChoiceSolver::Result::contradiction)
        << "round " << round;
    if (possible) {
      ASSERT_TRUE(acyclic(problem, taken_sides(*search.solver)));
      for (Vertex u = 0; u < problem.vertices; ++u) {
        ASSERT_TRUE(search.graph.each_out(u, [&](Vertex v) { return search.order.before(u, v); }));
      }
    } else {
      ++contradictions;
      check_refutation(problem, search.solver->refutation());
      if (HasFatalFailure()) FAIL() << "round " << round;
    }
  }
  EXPECT_GT(contradictions, kRounds / 10);
  EXPECT_LT(contradictions, kRounds * 9 / 10);
}

TEST(ChoiceSolver, ChoicesMayBeAddedAfterASolve) {
  Rng rng(4);
  for (int round = 0; round < 500; ++round) {
    const Problem problem = random_problem(rng);
    ProblemSearch search{.problem = problem, .local = kLocalities[round % 4]};
    for (size_t c = 0; c < problem.sides.size() / 2; ++c) {
      search.add(c, rng.chance(0.5));
      const ChoiceSolver::Result result = search.solve();
      ASSERT_EQ(result == ChoiceSolver::Result::acyclic,
                some_combination_is_acyclic(problem, c + 1));
      if (result == ChoiceSolver::Result::acyclic) continue;
      check_refutation(problem, search.solver->refutation());
      if (HasFatalFailure()) FAIL() << "round " << round;
      break;
    }
  }
}

TEST(ChoiceSolver, LocalOrNotTheAnswerIsTheSame) {
  Rng rng(6);
  int contradictions = 0;
  constexpr int kRounds = 400;
  for (int round = 0; round < kRounds; ++round) {
    const Problem problem = random_problem(rng, 60);
    std::optional<ChoiceSolver::Result> first;
    for (const Locality& local : kLocalities) {
      ProblemSearch search{.problem = problem, .local = local};
      ChoiceSolver::Result result = ChoiceSolver::Result::acyclic;
      for (size_t c = 0; c < problem.sides.size() / 2; ++c) {
        search.add(c, rng.chance(0.5));
        if (rng.chance(0.3)) result = search.solve();
        if (result == ChoiceSolver::Result::contradiction) break;
      }
      result = search.solve();
      ASSERT_EQ(result, first.value_or(result)) << "round " << round;
      first = result;
      if (result == ChoiceSolver::Result::acyclic) {
        ASSERT_TRUE(acyclic(problem, taken_sides(*search.solver)));
        continue;
      }
      ++contradictions;
      check_refutation(problem, search.solver->refutation());
      if (HasFatalFailure()) FAIL() << "round " << round;
    }
  }
  EXPECT_GT(contradictions, kRounds / 2);
  EXPECT_LT(contradictions, kRounds * 7 / 2);
}

// Choices without edges, clauses over them, and edges that need several sides, added before,
// between and after solves.
TEST(ChoiceSolver, ClausesAndConditionalEdgesAgreeWithTryingAllCombinations) {
  constexpr int kRounds = 6000;
  Rng rng(8);
  int contradictions = 0;
  for (int round = 0; round < kRounds; ++round) {
    Problem problem = random_problem(rng, 7);
    const size_t choices = problem.sides.size() / 2;
    for (Arcs& side : problem.sides)
      if (rng.chance(0.6)) side.clear();
    const auto random_sides = [&](uint64_t most) {
      std::vector<Side> sides;
      for (uint64_t i = 1 + rng.below(most); i > 0; --i) {
        const Side side = static_cast<Side>(rng.below(2 * choices));
        const auto same = [&](Side s) { return s / 2 == side / 2; };
        if (std::none_of(sides.begin(), sides.end(), same)) sides.push_back(side);
      }
      return sides;
    };
    for (uint64_t i = rng.below(8); i > 0; --i) problem.clauses.push_back(random_sides(4));
    for (uint64_t i = rng.below(12); i > 0; --i)
      problem.conditional.push_back({random_arcs(rng, problem.vertices, 1)[0], random_sides(3)});
    const uint32_t group[] = {0, 1};
    const bool grouped = choices > 2 && rng.chance(0.5);
    if (grouped) {
      problem.sides[1].clear();
      problem.sides[3].clear();
      for (std::vector<Side>& clause : problem.clauses)
        std::erase_if(clause, [](Side s) { return s == 0 || s == 2; });
      std::erase_if(problem.clauses, [](const std::vector<Side>& c) { return c.empty(); });
      for (Problem::Conditional& c : problem.conditional)
        std::replace_if(
            c.sides.begin(), c.sides.end(), [](Side s) { return s == 1 || s == 3; }, 4u);
      problem.clauses.push_back({0, 2});
    }
    ProblemSearch search{.problem = problem, .local = kLocalities[round % 4]};
    search.add_all();
    if (grouped) search.solver->group(group, 0);
    ChoiceSolver::Result result = ChoiceSolver::Result::acyclic;
    const auto perhaps_solve = [&] {
      if (rng.chance(0.3)) result = search.solve();
    };
    for (size_t i = 0; i < problem.clauses.size(); ++i) {
      search.add_clause(i);
      perhaps_solve();
    }
    for (size_t i = 0; i < problem.conditional.size(); ++i) {
      search.add_conditional(i);
      perhaps_solve();
    }
    result = search.solve();
    ASSERT_EQ(result == ChoiceSolver::Result::acyclic,
              some_combination_is_acyclic(problem, choices))
        << "round " << round;
    if (result == ChoiceSolver::Result::acyclic) continue;
    ++contradictions;
    check_refutation(problem, search.solver->refutation());
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
  EXPECT_GT(contradictions, kRounds / 10);
  EXPECT_LT(contradictions, kRounds * 9 / 10);
}

// What is assumed changes no answer, is part of no refutation, and holds where all of it can.
TEST(ChoiceSolver, AssumptionsAreGivenUpOnlyWhereTheyStandInTheWay) {
  constexpr int kRounds = 4000;
  Rng rng(9);
  int contradictions = 0, all_held = 0, given_up = 0;
  for (int round = 0; round < kRounds; ++round) {
    Problem problem = random_problem(rng);
    const size_t choices = problem.sides.size() / 2;
    const size_t assumed = rng.below(choices + 1);
    for (size_t c = 0; c < assumed; ++c) problem.sides[2 * c + 1].clear();
    ProblemSearch search{.problem = problem, .local = kLocalities[round % 4]};
    for (size_t c = 0; c < assumed; ++c) search.solver->assume(problem.sides[2 * c]);
    for (size_t c = assumed; c < choices; ++c) {
      search.add(c);
      if (rng.chance(0.3)) search.solve();
    }
    const ChoiceSolver::Result result = search.solve();
    ASSERT_EQ(result == ChoiceSolver::Result::acyclic,
              some_combination_is_acyclic(problem, choices))
        << "round " << round;
    if (result == ChoiceSolver::Result::acyclic) {
      ASSERT_TRUE(acyclic(problem, taken_sides(*search.solver))) << "round " << round;
      size_t held = 0;
      for (uint32_t c = 0; c < assumed; ++c) held += search.solver->first_taken(c);
      ++(held == assumed ? all_held : given_up);
      continue;
    }
    ++contradictions;
    const std::vector<RefutationStep> steps = search.solver->refutation();
    check_refutation(problem, steps);
    for (const RefutationStep& step : steps)
      for (const Side side : step.clause) ASSERT_GE(side / 2, assumed) << "round " << round;
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
  EXPECT_GT(contradictions, kRounds / 20);
  EXPECT_GT(all_held, kRounds / 10);
  EXPECT_GT(given_up, kRounds / 10);
}

// Any of them may be the wrong one. What has no part in the conflict stays.
TEST(ChoiceSolver, AssumptionsThatCannotAllHoldAreGivenUpTogether) {
  const Problem problem = {5, {}, {{{0, 1}}, {}, {{1, 2}}, {}, {{2, 0}}, {}, {{3, 4}}, {}}};
  for (const Locality& local : kLocalities) {
    ProblemSearch search{.problem = problem, .local = local};
    for (size_t c = 0; c < 4; ++c) search.solver->assume(problem.sides[2 * c]);
    EXPECT_EQ(search.solve(), ChoiceSolver::Result::acyclic);
    for (uint32_t c = 0; c < 4; ++c) EXPECT_EQ(search.solver->first_taken(c), c == 3);
  }
}

TEST(ChoiceSolver, AssumptionsComeBeforeEveryChoice) {
  const Problem problem = {3, {}, {{{0, 1}}, {}, {{1, 0}}, {{2, 0}}}};
  ProblemSearch search{problem};
  search.solver->assume(problem.sides[0]);
  search.add(1);
  EXPECT_EQ(search.solve(), ChoiceSolver::Result::acyclic);
  EXPECT_TRUE(search.solver->first_taken(0));
  EXPECT_FALSE(search.solver->first_taken(1));
}

TEST(ChoiceSolver, GivesUpAfterSoManyConflictsAndCanGoOn) {
  Rng rng(5);
  int gave_up = 0;
  for (int round = 0; round < 500; ++round) {
    const Problem problem = random_problem(rng);
    ProblemSearch search{.problem = problem, .local = kLocalities[round % 4]};
    search.add_all();
    ChoiceSolver::Result result = search.solve(0);
    if (result == ChoiceSolver::Result::out_of_budget) {
      ++gave_up;
      ASSERT_EQ(search.solver->conflicts(), 1u);
      result = search.solve();
    }
    ASSERT_EQ(result == ChoiceSolver::Result::acyclic,
              some_combination_is_acyclic(problem, problem.sides.size() / 2));
  }
  EXPECT_GT(gave_up, 50);
}

TEST(ChoiceSolver, StopsWhenTheBudgetHasRunOut) {
  const Problem problem = {2, {}, {{{0, 1}}, {{1, 0}}}};
  ProblemSearch search{problem};
  search.add_all();
  search.budget = Budget(0, 1);
  ASSERT_TRUE(search.budget.exhausted_now());
  EXPECT_EQ(search.solve(), ChoiceSolver::Result::out_of_budget);
}

}  // namespace
}  // namespace assay::internal
