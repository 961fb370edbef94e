#include "cli/hard_history.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "cli/console.h"
#include "cli/flags.h"
#include "cli/keys.h"
#include "oracle/hard_cases.h"

namespace assay::internal::cli {
namespace {

constexpr int kLiterals = 3;
// A literal needs four keys, and a draft has at most 4096.
constexpr size_t kMostLiterals = 1024;
constexpr int kMostVariables = 100'000;

Draft history_of(const oracle::Formula& formula) {
  Draft draft = oracle::cnf_history(formula);
  std::string dimacs = fmt::format("p cnf {} {}", formula.variables, formula.clauses.size());
  for (const std::vector<int>& clause : formula.clauses)
    dimacs += fmt::format("\\n{} 0", fmt::join(clause, " "));
  draft.meta = fmt::format(R"({{"tool":"assay generate","hard":"cnf","formula":"{}\n"}})", dimacs);
  return draft;
}

Draft formula(Rng& rng, int variables, double clauses_each) {
  const int clauses = std::max(1, static_cast<int>(variables * clauses_each));
  return history_of(oracle::random_formula(rng, variables, clauses, kLiterals));
}

// DIMACS: lines of comments begin with c; p cnf VARIABLES CLAUSES; then clauses of numbers, each
// ended by 0.
Result<oracle::Formula> read_formula(const std::string& path) {
  const auto text = read_file(path, uint64_t{1} << 20);
  if (!text.ok()) return text.error();
  oracle::Formula read{0, {}};
  std::vector<int> clause;
  size_t literals = 0, wanted = 0;
  uint64_t number = 0;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const auto wrong = [&](const char* expected) {
      return bad_input(fmt::format("expected {}", expected), number, 1).in(path);
    };
    if (line.starts_with("%")) break;  // the files of SATLIB end so
    if (line.starts_with("c")) continue;
    std::istringstream words(line);
    if (line.starts_with("p")) {
      std::string p, cnf;
      if (!(words >> p >> cnf >> read.variables >> wanted) || cnf != "cnf" || read.variables < 1 ||
          read.variables > kMostVariables)
        return wrong("p cnf VARIABLES CLAUSES");
      continue;
    }
    for (int literal = 0; words >> literal;) {
      if (literal < -read.variables || literal > read.variables)
        return wrong("literals of variables that the line p cnf declares, and none before it");
      if (literal != 0) {
        clause.push_back(literal);
        if (++literals > kMostLiterals) return wrong("at most 1,024 literals");
      } else if (!clause.empty()) {
        read.clauses.push_back(std::exchange(clause, {}));
      } else {
        return wrong("a clause with a literal");
      }
    }
    if (!words.eof()) return wrong("numbers");
  }
  if (clause.empty() && !read.clauses.empty() && read.clauses.size() == wanted) return read;
  return bad_input(fmt::format("{}: {} clauses; expected the {} that the line p cnf declares", path,
                               read.clauses.size(), wanted));
}

Draft polygraph(Rng& rng, int txns, double stale) {
  return oracle::polygraph_history(
      rng, {.txns = txns, .keys = std::max(2, txns / 5), .writes = 1, .stale = stale});
}

Draft triangle(Rng& rng, int vertices, double density) {
  return oracle::triangle_history(oracle::random_graph(rng, vertices, density));
}

struct Kind {
  std::string_view name;
  Draft (*make)(Rng&, int size, double density);
  double density;    // without --density
  uint32_t largest;  // size; a draft has at most 4096 keys
};
constexpr Kind kKinds[] = {
    {"cnf", formula, 4.27, 75},
    {"polygraph", polygraph, 0.15, 20'000},
    {"triangle", triangle, 0.07, 1'000},
};

}  // namespace

void HardFlags::add(CLI::App& app) {
  const std::string keys = keys_of("--hard");
  add_choice(
      app, "--hard", "kind", names_of(kKinds, &Kind::name),
      [this](const std::string& name) { kind = name; },
      "a hard case, without times and workload. cnf: prefix, session-si and session-serializable "
      "hold iff a random formula with three literals per clause can be satisfied; polygraph: "
      "slightly "
      "stale reads and blind writes; triangle: causal and weaker are violated iff a random graph "
      "has a triangle")
      ->type_name("KIND");
  app.add_option("--formula", formula, "cnf: the formula in this DIMACS file, not a random one")
      ->needs("--hard")
      ->check(CLI::ExistingFile)
      ->type_name("FILE")
      ->group(keys);
  app.add_option("--size", size, "variables, transactions or vertices")
      ->capture_default_str()
      ->check(CLI::Range(1, 20'000))
      ->type_name("N")
      ->group(keys);
  app.add_option("--density", density,
                 "clauses per variable (by default 4.27), mean age of the versions read (0.15), or "
                 "share of the edges (0.07)")
      ->check(CLI::Range(0.0, 100.0))
      ->type_name("X")
      ->group(keys);
}

Result<History> hard_history(const HardFlags& flags, uint64_t seed) {
  const Kind& kind = *std::ranges::find(kKinds, flags.kind, &Kind::name);
  if (!flags.formula.empty()) {
    if (kind.make != formula) return usage_error("formula is a key of --hard cnf");
    const auto read = read_formula(flags.formula);
    return read.ok() ? history_of(*read).history() : Result<History>(read.error());
  }
  if (flags.size > kind.largest)
    return usage_error(
        fmt::format("size: {} for {}; expected at most {}", flags.size, kind.name, kind.largest));
  Rng rng(seed);
  const double density = flags.density > 0 ? flags.density : kind.density;
  return kind.make(rng, static_cast<int>(flags.size), density).history();
}

}  // namespace assay::internal::cli
