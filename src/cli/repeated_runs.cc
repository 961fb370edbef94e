#include "cli/repeated_runs.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "base/progress.h"
#include "cli/console.h"
#include "cli/interrupts.h"
#include "collect/clean_runs.h"
#include "report/summary.h"

namespace assay::internal::cli {
namespace {

// Returns where the history of the first violation is kept.
std::filesystem::path kept_name(const std::string& history) {
  std::filesystem::path name = history;
  return name.replace_extension(".violated" + name.extension().string());
}

class Repeated {
 public:
  Repeated(collect::RunOptions options, const RepeatFlags& repeat, const CheckFlags& flags)
      : options_(std::move(options)),
        repeat_(repeat),
        flags_(flags),
        first_seed_(options_.seed),
        history_(options_.history) {
    options_.stop = &stop_driving_when_interrupted();
  }

  Exit operator()() {
    while (runs_ < repeat_.runs && !(violated_ > 0 && repeat_.fail_fast)) {
      progress_.update(static_cast<double>(runs_) / static_cast<double>(repeat_.runs),
                       fmt::format("run {}, {} violated", runs_ + 1, violated_));
      options_.seed = first_seed_ + runs_;
      const auto stats = collect::run(options_);
      if (!stats.ok()) return skip(stats.error());
      history_ = stats->history;
      if (Budget::interrupted() || *options_.stop) break;
      Audit checked = check_file(history_, flags_);
      if (checked.error) return skip(*checked.error);
      ++runs_;
      if (!take(checked)) return Exit::skip;
      // The next run replaces a history that shows nothing.
      options_.history = history_;
      options_.recorder.overwrite = true;
    }
    return conclude();
  }

 private:
  Exit skip(const Error& why) {
    progress_.clear();
    static_cast<void>(fail(why));
    return Exit::skip;
  }

  // Returns false if the history cannot be kept.
  bool take(Audit& checked) {
    const Exit verdict = exit_code(checked);
    undecided_ += verdict != Exit::satisfied && verdict != Exit::violated;
    if (verdict != Exit::violated || ++violated_ > 1) return true;
    progress_.clear();
    const std::filesystem::path kept = kept_name(history_);
    std::error_code error;
    std::filesystem::rename(history_, kept, error);
    if (error) {
      static_cast<void>(fail(io_error(error.message(), kept.string())));
      return false;
    }
    note(fmt::format("run {}, seed {}, is violated; its history is in {}", runs_, options_.seed,
                     kept.string()));
    static_cast<void>(deliver(checked, flags_));
    return true;
  }

  Exit conclude() {
    progress_.clear();
    note(fmt::format("{} of {} violated{}", violated_, counted(runs_, "run", "runs"),
                     undecided_ > 0 ? fmt::format(", {} undecided", undecided_) : std::string()));
    if (violated_ > 0) {
      if (!repeat_.fail_fast) advise();
      return Exit::violated;
    }
    if (undecided_ > 0 || runs_ < repeat_.runs) return Exit::skip;  // the last history may say why
    std::error_code ignored;
    std::filesystem::remove(history_, ignored);  // this history shows nothing
    return Exit::satisfied;
  }

  void advise() const {
    const auto enough =
        collect::enough_clean_runs(violated_, runs_ - undecided_, repeat_.confidence);
    if (enough)
      note(
          fmt::format("after a fix, {} without a violation show with {:.4g} % confidence that it "
                      "is gone: --repeat {} --fail-fast",
                      counted(*enough, "run", "runs"), 100 * repeat_.confidence, *enough));
    else
      note(
          "it occurs too rarely for any number of runs to show that it is gone; expected a "
          "workload that shows it more often");
  }

  collect::RunOptions options_;
  const RepeatFlags& repeat_;
  const CheckFlags& flags_;
  uint64_t first_seed_;
  std::string history_;
  uint64_t runs_ = 0, violated_ = 0, undecided_ = 0;
  ProgressLine progress_{"repeat"};
};

}  // namespace

Exit repeat(collect::RunOptions options, const RepeatFlags& repeat, const CheckFlags& flags) {
  if (flags.levels.levels.empty())
    return fail(usage_error("--repeat: expected --level, the level whose violation is counted"));
  if (Status s = outputs_writable(flags.output); !s.ok()) return fail(s.error());
  if (const auto kept = kept_name(options.history);
      !options.history.empty() && !options.recorder.overwrite && std::filesystem::exists(kept))
    return fail(usage_error(kept.string() + " exists; expected another --history, or --force"));
  return Repeated(std::move(options), repeat, flags)();
}

}  // namespace assay::internal::cli
