#include "oracle/selftest.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <span>

#include "base/progress.h"
#include "cli/checking.h"
#include "cli/command.h"
#include "cli/console.h"

namespace assay::internal::cli {
namespace {

struct SelftestState {
  uint64_t count = 5'000;  // a few seconds
  uint64_t seed = 1;
  SpeedUps speed_ups;
};

// Returns what `assay check --level all` would print. A refused certificate shows as an unknown
// verdict, which the oracle never gives, so the verifier is tested too.
oracle::Verdicts decide(const History& h, const SpeedUps& speed_ups,
                        std::span<const LevelInfo> levels) {
  CheckOptions options;
  options.speed_ups = speed_ups;
  for (const LevelInfo& level : levels) options.levels.push_back(level.id);
  const CheckResult result = check(h, options);
  oracle::Verdicts verdicts;
  verdicts.fill(Outcome::unknown);
  for (const Verdict& v : result.verdicts) verdicts[static_cast<size_t>(v.level)] = v.outcome;
  return verdicts;
}

std::string rows(const oracle::SelftestResult& r, std::span<const LevelInfo> levels) {
  std::string out;
  for (const LevelInfo& level : levels) {
    const auto& n = r.outcomes[static_cast<size_t>(level.id)];
    out += fmt::format("{:<22} {:>10} {:>10} {:>10}\n", level.name, n[0], n[1], n[2]);
  }
  return out;
}

Exit run_selftest(const SelftestState& s) {
  // Adya's levels depend on the order of versions, so they are compared on histories that state it.
  const std::span<const LevelInfo> all = all_levels();
  const auto end_of_adya = std::find_if(
      all.begin(), all.end(), [](const LevelInfo& l) { return l.events != EventModel::adya; });
  const auto adya = static_cast<size_t>(end_of_adya - all.begin());
  oracle::SelftestOptions plain, stated;
  plain.levels = all.subspan(adya);
  stated.levels = all.first(adya);
  stated.shape.ordered = 1;
  ProgressLine progress("selftest");
  std::string table =
      fmt::format("{:<22} {:>10} {:>10} {:>10}\n", "", "satisfied", "violated", "unknown");
  std::string failure;
  for (oracle::SelftestOptions* options : {&stated, &plain}) {
    options->seed = s.seed;
    options->count = s.count;
    options->progress = [&](double fraction) { progress.update(fraction, ""); };
    const oracle::SelftestResult r = oracle::selftest(
        [&](const History& h) { return decide(h, s.speed_ups, options->levels); }, *options);
    table += rows(r, options->levels);
    if (r.ok()) continue;
    failure =
        fmt::format("Disagreement at history {} (seed {}):\n{}\n", r.histories, s.seed, r.failure);
    break;
  }
  progress.clear();
  const std::string summary = fmt::format(
      "{0} random histories (seed {1}), and {0} that state the order of versions for the levels "
      "pl-*: every verdict agrees with brute force from the definition, every certificate is "
      "verified.\n",
      s.count, s.seed);
  return ended(print(table + (failure.empty() ? summary : failure)),
               failure.empty() ? Exit::satisfied : Exit::violated);
}

}  // namespace

Action add_selftest(CLI::App& app) {
  auto s = std::make_shared<SelftestState>();
  app.add_option("--count", s->count, "histories to compare")
      ->capture_default_str()
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40))
      ->type_name("N");
  add_seed(app, s->seed);
  add_without(app, s->speed_ups);
  return [s] { return run_selftest(*s); };
}

}  // namespace assay::internal::cli
