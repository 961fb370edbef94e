#include "oracle/selftest.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/progress.h"
#include "cli/checking.h"
#include "cli/command.h"
#include "cli/console.h"

namespace assay::cli {
namespace {

struct SelftestState {
  oracle::SelftestOptions options;
  SwitchFlags switches;
};

// What `assay check` would print. A refused certificate shows as an unknown verdict, which the
// oracle never gives, so the verifier is tested along the way.
oracle::Verdicts decide(const History& h, const Switches& switches) {
  CheckOptions options;
  options.switches = switches;
  CheckResult result = check(h, options);
  verify_verdicts(result, h);
  oracle::Verdicts verdicts;
  verdicts.fill(Outcome::unknown);
  for (const Verdict& v : result.verdicts) verdicts[static_cast<size_t>(v.level)] = v.outcome;
  return verdicts;
}

std::string table(const oracle::SelftestResult& r) {
  std::string out =
      fmt::format("{:<22} {:>10} {:>10} {:>10}\n", "", "satisfied", "violated", "unknown");
  for (const LevelInfo& level : default_levels()) {
    const auto& n = r.outcomes[static_cast<size_t>(level.id)];
    out += fmt::format("{:<22} {:>10} {:>10} {:>10}\n", level.name, n[0], n[1], n[2]);
  }
  return out;
}

Exit run_selftest(SelftestState& s) {
  ProgressLine progress("selftest");
  s.options.progress = [&](double fraction) { progress.update(fraction, ""); };
  const oracle::SelftestResult r =
      oracle::selftest([&](const History& h) { return decide(h, s.switches.switches); }, s.options);
  progress.clear();
  const std::string summary =
      r.ok() ? fmt::format(
                   "{} random histories (seed {}), every level of each as brute force from the "
                   "definition says, every certificate verified.\n",
                   r.histories, s.options.seed)
             : fmt::format("Disagreement at history {} (seed {}):\n{}\n", r.histories,
                           s.options.seed, r.failure);
  if (auto p = print(table(r) + summary); !p.ok()) return fail(p.error());
  return r.ok() ? Exit::satisfied : Exit::violated;
}

}  // namespace

Action add_selftest(CLI::App& app) {
  auto s = std::make_shared<SelftestState>();
  s->options.count = 5'000;  // a few seconds
  app.add_option("--count", s->options.count, "histories to compare")
      ->capture_default_str()
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40))
      ->type_name("N");
  add_seed(app, s->options.seed);
  s->switches.add(app);
  return [s] { return run_selftest(*s); };
}

}  // namespace assay::cli
