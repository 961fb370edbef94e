#include "cli/hard_history.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iterator>

#include "base/rng.h"
#include "cli/flags.h"
#include "oracle/hard_cases.h"

namespace assay::internal::cli {
namespace {

constexpr int kLiterals = 3;

Draft formula(Rng& rng, int variables, double clauses_each) {
  const int clauses = std::max(1, static_cast<int>(variables * clauses_each));
  return oracle::cnf_history(oracle::random_formula(rng, variables, clauses, kLiterals));
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
  uint32_t largest;  // size; a draft has 4096 keys
};
constexpr Kind kKinds[] = {
    {"cnf", formula, 4.27, 75},
    {"polygraph", polygraph, 0.15, 20'000},
    {"triangle", triangle, 0.07, 1'000},
};

const Kind* find_kind(std::string_view name) {
  const auto found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                  [&](const Kind& k) { return k.name == name; });
  return found == std::end(kKinds) ? nullptr : found;
}

}  // namespace

void HardFlags::add(CLI::App& app) {
  constexpr const char* kGroup = "Hard cases, without times and workload";
  app.add_option_function<std::string>(
         "--hard",
         [this](const std::string& name) {
           if (find_kind(name) == nullptr)
             bad_flag("--hard", fmt::format("no '{}'; expected cnf, polygraph or triangle", name));
           kind = name;
         },
         "cnf: prefix, session-si and session-serializable hold iff a random formula of three "
         "literals a clause can be "
         "satisfied; polygraph: slightly stale reads and blind writes; triangle: causal and weaker "
         "are violated iff a "
         "random graph has a triangle")
      ->type_name("KIND")
      ->group(kGroup);
  app.add_option("--size", size, "variables, transactions or vertices")
      ->capture_default_str()
      ->check(CLI::Range(1, 20'000))
      ->type_name("N")
      ->group(kGroup);
  app.add_option("--density", density,
                 "clauses a variable (4.27 without it), mean age of what is read in versions "
                 "(0.15), or share "
                 "of the edges (0.07)")
      ->check(CLI::Range(0.0, 100.0))
      ->type_name("X")
      ->group(kGroup);
}

Result<History> hard_history(const HardFlags& flags, uint64_t seed) {
  const Kind& kind = *find_kind(flags.kind);
  if (flags.size > kind.largest)
    return usage_error(
        fmt::format("--size: {} for {}; expected at most {}", flags.size, kind.name, kind.largest));
  Rng rng(seed);
  const double density = flags.density > 0 ? flags.density : kind.density;
  return kind.make(rng, static_cast<int>(flags.size), density).history();
}

}  // namespace assay::internal::cli
