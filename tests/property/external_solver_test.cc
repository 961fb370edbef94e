// The search of src/solver against solvers of other people on random polygraphs: CaDiCaL, which
// gets an order variable for each two vertices; clingo, which has acyclicity built in (#edge); z3,
// which gets a number for each vertex. A solver that is not installed (cadical, gringo, z3) is
// skipped, which is said.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>

#include "base/rng.h"
#include "cases.h"
#include "formats/temporary_folder.h"
#include "solver/choice_solver.h"

namespace assay::internal {
namespace {

struct Polygraph {
  Vertex vertices = 0;
  std::vector<Arc> known;               // acyclic
  std::vector<std::vector<Arc>> sides;  // two a choice
};

// Choices between two writers, each with some readers: about as many as make the answer hard to
// guess.
Polygraph random_polygraph(Rng& rng) {
  Polygraph p;
  p.vertices = static_cast<Vertex>(rng.between(6, 24));
  const auto vertex = [&] { return static_cast<Vertex>(rng.below(p.vertices)); };
  for (uint64_t i = rng.below(2 * p.vertices); i > 0; --i) {
    const Vertex a = vertex(), b = vertex();
    if (a < b) p.known.push_back({a, b});
  }
  for (uint64_t i = p.vertices + rng.below(3 * p.vertices); i > 0; --i) {
    const Vertex a = vertex(), b = vertex();
    if (a == b) continue;
    for (const auto& [first, second] : {std::pair(a, b), std::pair(b, a)}) {
      std::vector<Arc>& side = p.sides.emplace_back(1, Arc{first, second});
      while (rng.chance(0.6)) {
        const Vertex reader = vertex();
        if (reader != second) side.push_back({reader, second});
      }
    }
  }
  return p;
}

bool ours(const Polygraph& p) {
  Digraph graph(p.vertices, p.known);
  IncrementalOrder order(graph, topological_order(graph));
  ChoiceSolver solver(graph, order);
  for (size_t i = 0; i < p.sides.size(); i += 2)
    solver.add_choice(p.sides[i], p.sides[i + 1], true);
  Budget unlimited;
  return solver.solve(unlimited) == ChoiceSolver::Result::acyclic;
}

// Calls take(side, arc) for every arc; side is 0 for known ones, else 1, -1, 2, -2, …
void each_arc(const Polygraph& p, const std::function<void(int, Arc)>& take) {
  for (Arc arc : p.known) take(0, arc);
  for (size_t i = 0; i < p.sides.size(); ++i) {
    const int choice = static_cast<int>(i / 2) + 1;
    for (Arc arc : p.sides[i]) take(i % 2 == 0 ? choice : -choice, arc);
  }
}

std::string dimacs(const Polygraph& p) {
  const int choices = static_cast<int>(p.sides.size() / 2);
  const int n = static_cast<int>(p.vertices);
  const auto before = [&](Vertex a, Vertex b) {
    const int low = static_cast<int>(std::min(a, b)), high = static_cast<int>(std::max(a, b));
    const int variable = choices + 1 + low * n + high;
    return a < b ? variable : -variable;
  };
  std::string clauses;
  int count = 0;
  const auto add = [&](std::initializer_list<int> clause) {
    for (int literal : clause)
      if (literal != 0) clauses += std::to_string(literal) + " ";
    clauses += "0\n";
    ++count;
  };
  each_arc(p, [&](int side, Arc arc) { add({-side, before(arc.from, arc.to)}); });
  for (Vertex a = 0; a < p.vertices; ++a)
    for (Vertex b = 0; b < p.vertices; ++b)
      for (Vertex c = 0; c < p.vertices; ++c)
        if (a != b && b != c && a != c) add({-before(a, b), -before(b, c), before(a, c)});
  return "p cnf " + std::to_string(choices + n * n + 1) + " " + std::to_string(count) + "\n" +
         clauses;
}

std::string answer_set_program(const Polygraph& p) {
  std::string text = "{ first(1.." + std::to_string(p.sides.size() / 2) + ") }.\n";
  each_arc(p, [&](int side, Arc arc) {
    text += "#edge (" + std::to_string(arc.from) + "," + std::to_string(arc.to) + ")";
    if (side != 0)
      text += std::string(": ") + (side > 0 ? "" : "not ") + "first(" +
              std::to_string(std::abs(side)) + ")";
    text += ".\n";
  });
  return text;
}

std::string smt(const Polygraph& p) {
  std::string text = "(push)\n";
  for (Vertex v = 0; v < p.vertices; ++v)
    text += "(declare-const v" + std::to_string(v) + " Int)\n";
  for (size_t i = 1; i <= p.sides.size() / 2; ++i)
    text += "(declare-const c" + std::to_string(i) + " Bool)\n";
  each_arc(p, [&](int side, Arc arc) {
    const std::string before =
        "(< v" + std::to_string(arc.from) + " v" + std::to_string(arc.to) + ")";
    const std::string choice = "c" + std::to_string(std::abs(side));
    if (side == 0)
      text += "(assert " + before + ")\n";
    else
      text += "(assert (=> " + (side > 0 ? choice : "(not " + choice + ")") + " " + before + "))\n";
  });
  return text + "(check-sat)\n(pop)\n";
}

bool installed(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen((command + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return text;
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
  pclose(pipe);
  return text;
}

// Compares on `count` polygraphs; `theirs` answers for many at once, with the words that each
// solver has for it.
void expect_agreement(
    uint64_t count, uint64_t seed,
    const std::function<std::vector<bool>(const std::vector<Polygraph>&)>& theirs) {
  Rng rng(rotated(seed));
  std::vector<Polygraph> polygraphs;
  for (uint64_t i = 0; i < count; ++i) polygraphs.push_back(random_polygraph(rng));
  const std::vector<bool> answers = theirs(polygraphs);
  ASSERT_EQ(answers.size(), polygraphs.size());
  size_t acyclic = 0;
  for (size_t i = 0; i < polygraphs.size(); ++i) {
    EXPECT_EQ(ours(polygraphs[i]), answers[i]) << "polygraph " << i << " of seed " << seed;
    acyclic += answers[i];
  }
  if (count < 100) return;
  EXPECT_GT(acyclic, count / 10);
  EXPECT_LT(acyclic, count - count / 10);
}

// One process for each polygraph.
std::vector<bool> one_by_one(const std::string& command, const std::vector<Polygraph>& polygraphs,
                             std::string (*encode)(const Polygraph&)) {
  const formats::TemporaryFolder folder;
  const std::string file = folder.path("problem");
  std::vector<bool> answers;
  for (const Polygraph& p : polygraphs) {
    std::ofstream(file) << encode(p);
    const std::string said = output_of(command + " " + file);
    const bool no = said.find("UNSATISFIABLE") != std::string::npos;
    if (!no && said.find("SATISFIABLE") == std::string::npos) return {};
    answers.push_back(!no);
  }
  return answers;
}

TEST(ExternalSolver, cadical) {
  if (!installed("cadical")) GTEST_SKIP() << "cadical is not installed";
  expect_agreement(scaled(100, 5), 1, [](const std::vector<Polygraph>& polygraphs) {
    return one_by_one("cadical -q", polygraphs, dimacs);
  });
}

TEST(ExternalSolver, clingo) {
  if (!installed("clingo")) GTEST_SKIP() << "clingo is not installed";
  expect_agreement(scaled(100, 5), 2, [](const std::vector<Polygraph>& polygraphs) {
    return one_by_one("clingo", polygraphs, answer_set_program);
  });
}

TEST(ExternalSolver, z3) {
  if (!installed("z3")) GTEST_SKIP() << "z3 is not installed";
  expect_agreement(scaled(300, 5), 3, [](const std::vector<Polygraph>& polygraphs) {
    const formats::TemporaryFolder folder;
    const std::string file = folder.path("problems.smt2");
    {
      std::ofstream out(file);
      for (const Polygraph& p : polygraphs) out << smt(p);
    }
    std::istringstream said(output_of("z3 " + file));
    std::vector<bool> answers;
    for (std::string line; std::getline(said, line);) {
      if (line == "sat" || line == "unsat") answers.push_back(line == "sat");
    }
    return answers;
  });
}

}  // namespace
}  // namespace assay::internal
