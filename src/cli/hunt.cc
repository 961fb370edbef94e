#include "cli/hunt.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

#include "base/progress.h"
#include "base/rng.h"
#include "cli/console.h"
#include "cli/shrinking.h"
#include "report/summary.h"

namespace assay::cli {
namespace {

constexpr uint64_t kFirstTxns = 50;  // of a session
constexpr double kGrowth = 1.25;
constexpr uint64_t kMostTxns = 20'000;

using Steady = std::chrono::steady_clock;

double seconds_since(Steady::time_point start) {
  return std::chrono::duration<double>(Steady::now() - start).count();
}

template <class T, size_t N>
T pick(const std::array<T, N>& choices, Rng& rng) {
  return choices[rng.below(N)];
}

// The parameters of the next run. All of them stand in the command that repeats it.
void vary(collect::RunOptions& o, bool workload, uint64_t seed, double txns) {
  static constexpr std::array<std::string_view, 6> kWorkloads = {
      "increment", "write-skew", "long-fork", "mini", "general", "bank"};
  static constexpr std::array<uint64_t, 6> kKeys = {2, 4, 6, 10, 30, 100};
  static constexpr std::array<uint32_t, 4> kSessions = {4, 8, 12, 20};
  static constexpr std::array<uint32_t, 4> kOps = {2, 4, 8, 12};
  static constexpr std::array<double, 3> kReadShares = {0.3, 0.5, 0.8};
  static constexpr std::array<Distribution, 3> kDrawnFrom = {
      Distribution::uniform, Distribution::zipfian, Distribution::hotspot};
  Rng rng(seed);
  o.seed = seed;
  if (workload) o.workload = pick(kWorkloads, rng);
  o.workload_options.keys = pick(kKeys, rng);
  o.workload_options.ops = pick(kOps, rng);
  o.workload_options.read_share = pick(kReadShares, rng);
  o.workload_options.distribution = pick(kDrawnFrom, rng);
  o.sessions = std::max(pick(kSessions, rng), static_cast<uint32_t>(o.databases.size()) * 2);
  o.txns = static_cast<uint64_t>(txns);
}

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string command_of(const collect::RunOptions& o, const CheckFlags& flags) {
  std::string line = "assay run";
  for (const std::string& url : o.databases) line += " --database " + quoted(url);
  if (!o.isolation.empty()) line += " --isolation " + quoted(o.isolation);
  line += fmt::format(
      " --workload {} --sessions {} --txns {} --ops {} --read-share {} --keys {} --distribution {} "
      "--seed {}",
      o.workload, o.sessions, o.txns, o.workload_options.ops, o.workload_options.read_share,
      o.workload_options.keys, distribution_name(o.workload_options.distribution), o.seed);
  for (const collect::FaultKind kind : o.faults.kinds)
    line += fmt::format(" --fault {}", collect::fault_name(kind));
  if (!o.faults.kinds.empty()) line += fmt::format(" --fault-interval {}s", o.faults.interval);
  if (!o.faults.node_command.empty()) line += " --node-command " + quoted(o.faults.node_command);
  for (const LevelId level : flags.levels.levels)
    line += fmt::format(" --level {}", level_info(level).name);
  return line;
}

Exit found(const Checked& c, LevelId level, const collect::RunOptions& o, const CheckFlags& flags) {
  if (Status s = print(text_report({&c, 1}, {colour_on_stdout()})); !s.ok()) return fail(s.error());
  const std::string small = o.history + ".smallest.hist";
  CheckFlags shrinking = flags;
  shrinking.budget.seconds = 60;
  write_smallest(c, level, shrinking, small, "hist");
  note(fmt::format("the history is in {}, the smallest part of it in {}", o.history, small));
  if (Status s = print("\nTo repeat it:\n  " + command_of(o, flags) + "\n"); !s.ok())
    return fail(s.error());
  return Exit::violated;
}

}  // namespace

Exit hunt(collect::RunOptions options, bool vary_workload, double seconds,
          const CheckFlags& flags) {
  if (flags.levels.levels.empty())
    return fail(usage_error("--until-violation needs --level: the violation of what?"));
  const auto start = Steady::now();
  const uint64_t first_seed = options.seed;
  double txns = kFirstTxns;
  uint64_t runs = 0, undecided = 0, committed = 0;
  ProgressLine progress("hunt");
  while (seconds_since(start) < seconds && !(options.stop != nullptr && *options.stop)) {
    vary(options, vary_workload, first_seed + runs, txns);
    options.seconds = seconds - seconds_since(start);
    progress.update(
        std::min(1.0, seconds_since(start) / seconds),
        fmt::format("run {}: {} with {} keys, {} transactions so far", runs + 1, options.workload,
                    options.workload_options.keys, grouped(committed)));
    const auto stats = collect::run(options);
    if (!stats.ok()) {
      progress.clear();
      return fail(stats.error());
    }
    // The next run replaces this one's history.
    options.history = stats->history;
    options.recorder.overwrite = true;
    ++runs;
    committed += stats->committed;
    CheckFlags checking = flags;
    checking.budget.seconds = std::max(1.0, seconds - seconds_since(start));
    const Checked c = check_file(options.history, checking);
    if (c.error) return fail(*c.error);
    bool unknown = false;
    for (const Verdict& v : c.result.verdicts) {
      if (v.outcome == Outcome::violated) {
        progress.clear();
        note(fmt::format("violated in run {} after {} transactions in {:.1f} s", runs,
                         grouped(committed), seconds_since(start)));
        return found(c, v.level, options, flags);
      }
      unknown = unknown || v.outcome == Outcome::unknown;
    }
    undecided += unknown;
    txns = std::min<double>(txns * kGrowth, kMostTxns);
  }
  progress.clear();
  std::remove(options.history.c_str());
  note(fmt::format(
      "no violation in {} runs of {} transactions in all{}", runs, grouped(committed),
      undecided > 0 ? fmt::format("; {} could not be decided in time", undecided) : ""));
  return undecided > 0 ? Exit::unknown : Exit::satisfied;
}

}  // namespace assay::cli
