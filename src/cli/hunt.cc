#include "cli/hunt.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/progress.h"
#include "base/rng.h"
#include "cli/console.h"
#include "cli/interrupts.h"
#include "cli/repeat.h"
#include "cli/shrinking.h"
#include "collect/arms.h"
#include "collect/supported.h"
#include "history/contention.h"
#include "report/summary.h"

namespace assay::internal::cli {
namespace {

constexpr uint64_t kFirstTxns = 20;  // per session
constexpr uint64_t kMostTxns = 20'000;
// Fewer commits in total say nothing about a database.
constexpr uint64_t kFewestCommits = 1000;
// A run is too contended to be worth its time if more than this share of transactions aborts, or
// more than this share of the time is spent waiting.
constexpr double kTooManyAborts = 0.9;
constexpr double kTooMuchWaiting = 0.5;
constexpr uint32_t kMostEasings = 5;
// Limits of one run in seconds: a run in which everything waits must not be the only one.
constexpr double kShortestLimit = 2, kLongestLimit = 50, kRunsAtLeast = 10;
constexpr double kLeastOfARun = 0.01;  // if the time is nearly over
// Driving and checking should take about as long as preparing the run, or this share of the elapsed
// time.
constexpr double kShortestAim = 0.02, kShareOfTime = 0.05;
// How far a run may exceed the aim.
constexpr double kPatienceFactor = 4, kLeastPatience = 0.5;
// The time for checking one history: seconds, or this share of the elapsed time. Another, shorter
// history is decided sooner.
constexpr double kSecondsToCheck = 1, kShareToCheck = 0.1;
constexpr double kSecondsForLevels = 60;
// Every session reads all of these, in every run.
constexpr uint64_t kFinalReadKeys = 20;

using Steady = std::chrono::steady_clock;
using collect::Contention;

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
    if (Status s = choose_arms(); !s.ok()) return fail(s.error());
    while (elapsed() < seconds_ && !stopped()) {
      const double begin = elapsed();
      draw();
      progress_.update(
          std::min(1.0, elapsed() / seconds_),
          fmt::format("run {}: {} with {} keys, {} transactions so far", runs_ + 1,
                      options_.workload, options_.workload_options.keys, grouped(committed_)));
      options_.stop = &stop_driving_when_interrupted();
      const auto stats = collect::run(options_);
      const double ran = elapsed() - begin;
      if (!stats.ok()) {
        progress_.clear();
        return fail(stats.error());
      }
      note_run(*stats);
      const double preparing = std::max(0.0, ran - stats->seconds);
      preparing_ += preparing;
      last_ = check_file(options_.history, within(seconds_to_check()));
      if (last_->error) return fail(*last_->error);
      if (const Verdict* violated = first(Outcome::violated)) return found(violated->level);
      note_fruitless(*stats, elapsed() - begin, preparing);
    }
    return not_found();
  }

 private:
  struct OfArm {
    bool with_tombstones = false;
    uint64_t runs = 0, committed = 0;
    double seconds = 0;              // spent on driving and checking
    uint64_t most_txns = kMostTxns;  // per session
  };

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

  double seconds_to_check() const {
    return std::min(seconds_ - elapsed(), std::max(kSecondsToCheck, kShareToCheck * elapsed()));
  }

  // Collects the workloads to choose from, at each contention unless the flags fix it.
  Status choose_arms() {
    fault_ = collect::fault_class(flags_.levels.levels);
    const auto workloads = given("--workload") ? only_the_given() : all_that_tell();
    if (!workloads.ok()) return workloads.error();
    const bool no_choice = given("--keys") && given("--sessions");
    for (const collect::SupportedWorkload& w : *workloads)
      for (const Contention contention : collect::kContentions)
        if (contention == Contention::hot || !no_choice) add_arm(w, contention);
    return Ok{};
  }

  using Workloads = std::vector<collect::SupportedWorkload>;

  // If the driver lacks operations of the workload, the run itself reports that.
  Result<Workloads> only_the_given() const {
    const auto made = collect::make_workload(options_.workload, options_.workload_options);
    if (!made.ok()) return made.error();
    return Workloads{{.info = collect::find_workload(options_.workload)}};
  }

  Result<Workloads> all_that_tell() const {
    auto workloads = collect::supported_workloads(options_.databases, options_.isolation,
                                                  options_.workload_options);
    if (!workloads.ok()) return workloads;
    if (fault_ == collect::FaultClass::stale_read)
      std::erase_if(*workloads, [](const auto& w) { return !w.info->single_operations; });
    if (workloads->empty())
      return usage_error(
          "--until-violation: the level needs transactions of one operation, but no workload for "
          "this database has them; expected another level");
    return workloads;
  }

  void add_arm(const collect::SupportedWorkload& workload, Contention contention) {
    const double a_minute = collect::prior_rate(*workload.info, contention, fault_);
    arms_.add({workload.info, contention, a_minute / 60, workload.kinds});
    of_arms_.push_back({.with_tombstones = workload.with_tombstones});
  }

  // Draws the parameters of the next run.
  void draw() {
    arm_ = arms_.next(runs_);
    options_.seed = first_seed_ + runs_;
    Rng rng(options_.seed);
    drawn_ = {{"--seed", std::to_string(options_.seed)}};
    const std::string_view workload = arms_[arm_].workload->name;
    use("--workload", options_.workload, workload, std::string(workload));
    draw_contention(rng);
    draw_operations(rng);
    draw_length();
  }

  template <class To, class Value>
  void use(const char* flag, To& to, const Value& value, const std::string& text) {
    if (given(flag)) return;
    to = value;
    drawn_.emplace_back(flag, text);
  }

  // Each parameter is drawn whether or not it is used: the others must not depend on which flags
  // were given.
  void draw_contention(Rng& rng) {
    static constexpr std::array<std::array<uint64_t, 2>, 3> kKeys = {{{2, 4}, {8, 20}, {50, 200}}};
    static constexpr std::array<std::array<uint32_t, 2>, 3> kSessions = {
        {{8, 16}, {8, 12}, {4, 8}}};
    static constexpr std::array<Distribution, 3> kDrawnFrom = {
        Distribution::uniform, Distribution::zipfian, Distribution::hotspot};
    const auto contention = static_cast<size_t>(arms_[arm_].contention);
    const uint64_t keys = pick(kKeys[contention], rng) << (2 * easings_);
    use("--keys", options_.workload_options.keys, keys, std::to_string(keys));
    const Distribution from = pick(kDrawnFrom, rng);
    use("--distribution", options_.workload_options.distribution, from,
        std::string(distribution_name(from)));
    const uint32_t sessions = std::max({pick(kSessions[contention], rng) >> easings_, uint32_t{2},
                                        static_cast<uint32_t>(options_.databases.size())});
    use("--sessions", options_.sessions, sessions, std::to_string(sessions));
  }

  void draw_operations(Rng& rng) {
    static constexpr std::array<uint32_t, 4> kOps = {2, 4, 8, 12};
    static constexpr std::array<double, 3> kReadShares = {0.3, 0.5, 0.8};
    const bool single = fault_ == collect::FaultClass::stale_read;
    collect::WorkloadOptions& w = options_.workload_options;
    const uint32_t drawn_ops = pick(kOps, rng), ops = single ? 1 : drawn_ops;
    use("--ops", w.ops, ops, std::to_string(ops));
    const double reads = pick(kReadShares, rng);
    use("--read-share", w.read_share, reads, fmt::format("{}", reads));
    const bool tombstones = rng.chance(0.5) && of_arms_[arm_].with_tombstones;
    if (!given("--tombstones")) w.tombstones = tombstones;
    if (!given("--tombstones") && tombstones) drawn_.emplace_back("--tombstones", "");
    // Reading several keys at once is not a single operation.
    const uint64_t last = single ? 0 : kFinalReadKeys;
    use("--final-read-keys", options_.final_read_keys, last, std::to_string(last));
  }

  // Draws as many transactions as the arm executes in the time aimed at or, if it never ran, as all
  // arms together do.
  void draw_length() {
    const OfArm& arm = of_arms_[arm_];
    const double preparing = runs_ > 0 ? preparing_ / static_cast<double>(runs_) : 0;
    const double aim = std::max({preparing, kShareOfTime * elapsed(), kShortestAim});
    const double rate = arm.seconds > 0 ? static_cast<double>(arm.committed) / arm.seconds
                        : working_ > 0  ? static_cast<double>(committed_) / working_
                                        : 0;
    const auto wanted = static_cast<uint64_t>(rate * aim / options_.sessions);
    const uint64_t txns =
        runs_ == 0 ? kFirstTxns : std::clamp(wanted, kFirstTxns / 2, arm.most_txns);
    use("--txns", options_.txns, txns, std::to_string(txns));
    limit_ = std::clamp(seconds_ / kRunsAtLeast, kShortestLimit, kLongestLimit);
    limit_ = given_seconds_ > 0 ? std::clamp(given_seconds_, kLeastOfARun, limit_)
                                : std::min(limit_, std::max(kLeastPatience, kPatienceFactor * aim));
    // Zero would mean no limit.
    options_.seconds = std::clamp(seconds_ - elapsed(), kLeastOfARun, limit_);
  }

  void note_run(const collect::RunStats& stats) {
    // The next run overwrites the history of this one.
    options_.history = stats.history;
    options_.recorder.overwrite = true;
    ++runs_;
    committed_ += stats.committed;
    aborted_ += stats.aborted;
    unknown_ += stats.unknown;
    session_seconds_ += stats.seconds * options_.sessions;
    waited_ += stats.waited_share * stats.seconds * options_.sessions;
    ++of_arms_[arm_].runs;
    if (stats.seconds >= options_.seconds && !given("--duration"))
      drawn_.emplace_back("--duration", fmt::format("{:.1f}s", options_.seconds));
  }

  // Notes what a run that found no violation shows for the next runs.
  void note_fruitless(const collect::RunStats& stats, double seconds, double preparing) {
    OfArm& arm = of_arms_[arm_];
    arm.committed += stats.committed;
    arm.seconds += seconds - preparing;
    working_ += seconds - preparing;
    arms_.note(arm_, {seconds, find_contention(last_->history).transactions});
    if (first(Outcome::unknown) != nullptr) {
      ++undecided_;
      arm.most_txns = std::max(kFirstTxns, options_.txns / 2);
    }
    const auto attempts =
        static_cast<double>(std::max<uint64_t>(1, stats.committed + stats.aborted + stats.unknown));
    if (static_cast<double>(stats.aborted) / attempts > kTooManyAborts ||
        stats.waited_share > kTooMuchWaiting)
      easings_ = std::min(easings_ + (stats.committed == 0 ? 2U : 1U), kMostEasings);
    else if (easings_ > 0)
      --easings_;
  }

  // "3 % aborted, 80 % of the time in statements of over 0.1 s"
  std::string shares() const {
    const double attempts =
        static_cast<double>(std::max<uint64_t>(1, committed_ + aborted_ + unknown_));
    return fmt::format("{:.0f} % aborted, {:.0f} % of the time in statements of over 0.1 s",
                       100 * static_cast<double>(aborted_) / attempts,
                       session_seconds_ > 0 ? 100 * waited_ / session_seconds_ : 0.0);
  }

  // "increment 3, mini 1"
  std::string runs_of_workloads() const {
    std::string text;
    for (size_t i = 0; i < arms_.size(); ++i) {
      const std::string_view name = arms_[i].workload->name;
      if (i > 0 && arms_[i - 1].workload == arms_[i].workload) continue;
      uint64_t runs = 0;
      for (size_t j = i; j < arms_.size() && arms_[j].workload == arms_[i].workload; ++j)
        runs += of_arms_[j].runs;
      if (runs > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, runs);
    }
    return text;
  }

  std::string bounds() const {
    CheckFlags every = within(kSecondsForLevels);
    every.levels = {};
    const Audit all = check_file(options_.history, every);
    std::vector<LevelId> weakest;
    std::vector<Verdict> verdicts = all.result.verdicts;
    // The requested levels may be among the ones decided only on request.
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
    note("runs of each workload: " + runs_of_workloads());
    Exit worst = deliver(*last_, flags_);
    const std::string small = options_.history + ".smallest.hist";
    CheckFlags shrinking = flags_;
    shrinking.budget.seconds = kSecondsForLevels;
    const SqlFlags sql{.file = options_.history + ".smallest.sql",
                       .databases = options_.databases,
                       .isolation = options_.isolation,
                       .where_possible = true};
    std::remove(sql.file.c_str());  // the file of an earlier run
    write_smallest(*last_, level, shrinking, small, "hist", sql);
    note(bounds());
    note(fmt::format("the history is in {}, its smallest violating part in {}{}", options_.history,
                     small, std::filesystem::exists(sql.file) ? ", as SQL in " + sql.file : ""));
    const std::string command = repeating_command(app_, drawn_);
    const std::string end =
        "\nTo repeat it" +
        std::string(command.find("***") == std::string::npos
                        ? ""
                        : " (with the password, or the URL in ASSAY_DATABASE_URL)") +
        ":\n  " + command + "\n";
    // Standard output is only for the JSON.
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
    std::string line = fmt::format("no violation in {} with {} in all ({})",
                                   counted(runs_, "run", "runs"), transactions(), shares());
    if (undecided_ > 0) line += fmt::format("; {} undecided", counted(undecided_, "run", "runs"));
    if (committed_ < kFewestCommits)
      line +=
          fmt::format("; fewer than {} say nothing about the database", grouped(kFewestCommits));
    note(line);
    note("runs of each workload: " + runs_of_workloads());
    if (!last_) return worst;
    // A report of satisfied levels is about the last run's history.
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
  double given_seconds_;  // the value of --duration
  Steady::time_point start_ = Steady::now();
  ProgressLine progress_{"hunt"};
  DrawnFlags drawn_;
  double limit_ = 0;
  collect::FaultClass fault_ = collect::FaultClass::write_skew;
  collect::Arms arms_;
  std::vector<OfArm> of_arms_;
  size_t arm_ = 0;  // the arm that is run
  uint32_t easings_ = 0;
  uint64_t runs_ = 0, undecided_ = 0, committed_ = 0, aborted_ = 0, unknown_ = 0;
  double preparing_ = 0,
         working_ = 0;  // seconds of preparing (with the final reads), and of driving and checking
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
