#include "cli/hunt.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "base/progress.h"
#include "base/rng.h"
#include "cli/console.h"
#include "cli/interrupts.h"
#include "cli/repeat.h"
#include "cli/shrinking.h"
#include "report/summary.h"

namespace assay::internal::cli {
namespace {

constexpr uint64_t kFirstTxns = 50;  // of a session
constexpr double kGrowth = 1.25;
constexpr double kMostTxns = 20'000;
// Fewer commits in all say nothing about a database.
constexpr uint64_t kFewestCommits = 1000;
// A run in which a larger share aborts, or of the time goes by in waiting, is too contended to be worth its time.
constexpr double kTooManyAborts = 0.9;
constexpr double kTooMuchWaiting = 0.5;
constexpr uint32_t kMostEasings = 5;
// Of one run, so that one in which everything waits is not the only one.
constexpr double kShortestRun = 2, kLongestRun = 50, kRunsAtLeast = 10;
constexpr double kLeastOfARun = 0.01;  // where the time is nearly up
constexpr double kSecondsForLevels = 60;

using Steady = std::chrono::steady_clock;

template <class T, size_t N>
T pick(const std::array<T, N>& choices, Rng& rng) {
  return choices[rng.below(N)];
}

class Hunt {
 public:
  Hunt(collect::RunOptions options, const CLI::App& app, double seconds, const CheckFlags& flags)
      : options_(std::move(options)),
        app_(app),
        seconds_(seconds),
        flags_(flags),
        first_seed_(options_.seed),
        given_seconds_(options_.seconds) {}

  Exit operator()() {
    while (elapsed() < seconds_ && !stopped()) {
      draw();
      progress_.update(
          std::min(1.0, elapsed() / seconds_),
          fmt::format("run {}: {} with {} keys, {} transactions so far", runs_ + 1,
                      options_.workload, options_.workload_options.keys, grouped(committed_)));
      options_.stop = &stop_driving_when_interrupted();
      const auto stats = collect::run(options_);
      if (!stats.ok()) {
        progress_.clear();
        return fail(stats.error());
      }
      note_run(*stats);
      last_ = check_file(options_.history, within(seconds_ - elapsed()));
      if (last_->error) return fail(*last_->error);
      if (const Verdict* violated = first(Outcome::violated)) return found(violated->level);
      undecided_ += first(Outcome::unknown) != nullptr;
    }
    return not_found();
  }

 private:
  double elapsed() const { return std::chrono::duration<double>(Steady::now() - start_).count(); }
  bool stopped() const {
    return Budget::interrupted() || (options_.stop != nullptr && *options_.stop);
  }
  bool given(const std::string& flag) const { return app_.count(flag) > 0; }
  const Verdict* first(Outcome outcome) const {
    for (const Verdict& v : last_->result.verdicts)
      if (v.outcome == outcome && !last_->is_known(v.level)) return &v;
    return nullptr;
  }
  CheckFlags within(double seconds) const {
    CheckFlags checking = flags_;
    checking.budget.seconds = std::max(1.0, seconds);
    return checking;
  }
  bool wants_output() const {
    return flags_.output.json || !flags_.output.reports.empty() ||
           !flags_.output.certificate.empty();
  }

  // The parameters of the next run.
  void draw() {
    static constexpr std::array<std::string_view, 6> kWorkloads = {
        "increment", "write-skew", "long-fork", "mini", "general", "bank"};
    static constexpr std::array<uint64_t, 6> kKeys = {2, 4, 6, 10, 30, 100};
    static constexpr std::array<uint32_t, 4> kSessions = {4, 8, 12, 20};
    static constexpr std::array<uint32_t, 4> kOps = {2, 4, 8, 12};
    static constexpr std::array<double, 3> kReadShares = {0.3, 0.5, 0.8};
    static constexpr std::array<Distribution, 3> kDrawnFrom = {
        Distribution::uniform, Distribution::zipfian, Distribution::hotspot};
    options_.seed = first_seed_ + runs_;
    Rng rng(options_.seed);
    drawn_ = {{"--seed", std::to_string(options_.seed)}};
    // Each is drawn whether or not it is used, so that the others do not depend on which flags were given.
    const auto use = [&](const char* flag, auto& to, auto value, const std::string& text) {
      if (given(flag)) return;
      to = value;
      drawn_.emplace_back(flag, text);
    };
    const std::string_view workload = pick(kWorkloads, rng);
    use("--workload", options_.workload, workload, std::string(workload));
    collect::WorkloadOptions& w = options_.workload_options;
    const uint64_t keys = pick(kKeys, rng) << (2 * easings_);
    use("--keys", w.keys, keys, std::to_string(keys));
    const uint32_t ops = pick(kOps, rng);
    use("--ops", w.ops, ops, std::to_string(ops));
    const double reads = pick(kReadShares, rng);
    use("--read-share", w.read_share, reads, fmt::format("{}", reads));
    const Distribution from = pick(kDrawnFrom, rng);
    use("--distribution", w.distribution, from, std::string(distribution_name(from)));
    const uint32_t sessions = std::max({pick(kSessions, rng) >> easings_, uint32_t{2},
                                        static_cast<uint32_t>(options_.databases.size())});
    use("--sessions", options_.sessions, sessions, std::to_string(sessions));
    const auto txns = static_cast<uint64_t>(txns_);
    use("--txns", options_.txns, txns, std::to_string(txns));
    limit_ = std::clamp(seconds_ / kRunsAtLeast, kShortestRun, kLongestRun);
    if (given_seconds_ > 0) limit_ = std::clamp(given_seconds_, kLeastOfARun, limit_);
    // Zero would be no limit at all.
    options_.seconds = std::clamp(seconds_ - elapsed(), kLeastOfARun, limit_);
  }

  void note_run(const collect::RunStats& stats) {
    // The next run replaces this one's history.
    options_.history = stats.history;
    options_.recorder.overwrite = true;
    ++runs_;
    committed_ += stats.committed;
    aborted_ += stats.aborted;
    unknown_ += stats.unknown;
    session_seconds_ += stats.seconds * options_.sessions;
    waited_ += stats.waited_share * stats.seconds * options_.sessions;
    if (stats.seconds >= options_.seconds && !given("--duration"))
      drawn_.emplace_back("--duration", fmt::format("{:.1f}s", options_.seconds));
    const auto attempts =
        static_cast<double>(std::max<uint64_t>(1, stats.committed + stats.aborted + stats.unknown));
    if (static_cast<double>(stats.aborted) / attempts > kTooManyAborts ||
        stats.waited_share > kTooMuchWaiting)
      easings_ = std::min(easings_ + 1, kMostEasings);
    else
      txns_ = std::min(txns_ * kGrowth, kMostTxns);
  }

  // "3 % aborted, 80 % of the time in statements of over 0.1 s"
  std::string shares() const {
    const double attempts =
        static_cast<double>(std::max<uint64_t>(1, committed_ + aborted_ + unknown_));
    return fmt::format("{:.0f} % aborted, {:.0f} % of the time in statements of over 0.1 s",
                       100 * static_cast<double>(aborted_) / attempts,
                       session_seconds_ > 0 ? 100 * waited_ / session_seconds_ : 0.0);
  }

  std::string bounds() const {
    CheckFlags every = within(kSecondsForLevels);
    every.levels = {};
    const Audit all = check_file(options_.history, every);
    std::vector<LevelId> weakest;
    std::vector<Verdict> verdicts = all.result.verdicts;
    // Those asked for may be among the levels that are decided on request only.
    verdicts.insert(verdicts.end(), last_->result.verdicts.begin(), last_->result.verdicts.end());
    for (const Verdict& v : verdicts) {
      const bool stronger = std::any_of(weakest.begin(), weakest.end(),
                                        [&](LevelId w) { return implies(v.level, w); });
      if (v.outcome == Outcome::violated && !stronger) {
        std::erase_if(weakest, [&](LevelId w) { return implies(w, v.level); });
        weakest.push_back(v.level);
      }
    }
    const std::vector<LevelId> strongest = strongest_satisfied(all.result);
    return fmt::format("weakest level violated: {}; strongest satisfied: {}", level_names(weakest),
                       strongest.empty() ? "none" : level_names(strongest));
  }

  Exit found(LevelId level) {
    progress_.clear();
    note(fmt::format("violated in run {} after {} in {:.1f} s ({})", runs_, transactions(),
                     elapsed(), shares()));
    Exit worst = deliver(*last_, flags_);
    const std::string small = options_.history + ".smallest.hist";
    CheckFlags shrinking = flags_;
    shrinking.budget.seconds = kSecondsForLevels;
    const SqlFlags sql{.file = options_.history + ".smallest.sql",
                       .databases = options_.databases,
                       .isolation = options_.isolation,
                       .where_possible = true};
    std::remove(sql.file.c_str());  // of an earlier run
    write_smallest(*last_, level, shrinking, small, "hist", sql);
    note(bounds());
    note(fmt::format("the history is in {}, the smallest part of it in {}{}", options_.history,
                     small, std::filesystem::exists(sql.file) ? ", as SQL in " + sql.file : ""));
    const std::string command = repeating_command(app_, drawn_);
    const std::string end =
        "\nTo repeat it" +
        std::string(command.find("***") == std::string::npos
                        ? ""
                        : " (with the password, or the URL in ASSAY_DATABASE_URL)") +
        ":\n  " + command + "\n";
    // Standard output is for the JSON alone.
    if (flags_.output.json)
      std::fputs(end.c_str() + 1, stderr);
    else if (Status s = print(end); !s.ok())
      worst = worse(worst, fail(s.error()));
    return worse(worst, Exit::violated);
  }

  std::string transactions() const { return counted(committed_, "transaction", "transactions"); }

  Exit not_found() {
    progress_.clear();
    Exit worst = undecided_ > 0 || committed_ < kFewestCommits ? Exit::unknown : Exit::satisfied;
    std::string line = fmt::format("no violation in {} of {} in all ({})",
                                   counted(runs_, "run", "runs"), transactions(), shares());
    if (undecided_ > 0) line += fmt::format("; {} undecided", counted(undecided_, "run", "runs"));
    if (committed_ < kFewestCommits)
      line +=
          fmt::format("; fewer than {} say nothing about the database", grouped(kFewestCommits));
    note(line);
    if (!last_) return worst;
    // A report of what was satisfied is one of the last run's history.
    if (wants_output())
      worst = worse(worst, deliver(*last_, flags_));
    else
      std::remove(options_.history.c_str());
    return worst;
  }

  collect::RunOptions options_;
  const CLI::App& app_;
  double seconds_;
  const CheckFlags& flags_;
  uint64_t first_seed_;
  double given_seconds_;  // --duration
  Steady::time_point start_ = Steady::now();
  ProgressLine progress_{"hunt"};
  DrawnFlags drawn_;
  double limit_ = 0;
  double txns_ = static_cast<double>(kFirstTxns);
  uint32_t easings_ = 0;
  uint64_t runs_ = 0, undecided_ = 0, committed_ = 0, aborted_ = 0, unknown_ = 0;
  double session_seconds_ = 0, waited_ = 0;
  std::optional<Audit> last_;
};

}  // namespace

Exit hunt(collect::RunOptions options, const CLI::App& app, double seconds,
          const CheckFlags& flags) {
  if (flags.levels.levels.empty())
    return fail(
        usage_error("--until-violation: expected --level, the level whose violation to look for"));
  if (Status s = outputs_writable(flags.output); !s.ok()) return fail(s.error());
  return Hunt(std::move(options), app, seconds, flags)();
}

}  // namespace assay::internal::cli
