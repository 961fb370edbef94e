#include "collect/generate.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <memory>

#include "assay/format.h"
#include "base/progress.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/flags.h"
#include "cli/hard_history.h"
#include "cli/keys.h"
#include "collect/lightweight.h"

namespace assay::internal::cli {
namespace {

using collect::GenerateOptions;
using collect::Times;

struct GenerateState {
  GenerateOptions options;
  LevelFlags level;
  WorkloadFlags workload;
  HardFlags hard;
  std::string output = "-";
  bool lightweight = false;
  double concurrent = 1;
};

collect::LightweightOptions lightweight_options(const GenerateState& s) {
  collect::LightweightOptions o;
  o.sessions = s.workload.sessions;
  o.txns = s.workload.txns;
  o.keys = s.workload.options.keys;
  o.concurrent = s.concurrent;
  o.read_share = s.workload.options.read_share;
  o.unknown_share = s.options.unknown_share;
  o.bug = s.options.bug;
  o.bug_count = s.options.bug_count;
  o.seed = s.options.seed;
  return o;
}

void add_bug(CLI::App& app, GenerateOptions& options) {
  const auto bugs = names_of(collect::all_bugs(), [](Anomaly a) { return anomaly_info(a).name; });
  add_choice(
      app, "--bug", "bug", bugs,
      [&options](const std::string& name) { options.bug = *find_anomaly(name); },
      "plant a fault that causes this anomaly: " + listed(bugs))
      ->type_name("ANOMALY");
  const auto log_bugs = names_of(collect::all_log_bugs(), &collect::LogBugInfo::name);
  add_choice(
      app, "--log-bug", "fault", log_bugs,
      [&options](const std::string& name) {
        options.log_bug =
            std::ranges::find(collect::all_log_bugs(), name, &collect::LogBugInfo::name)->bug;
      },
      "plant a fault in what the database reports about itself: " + listed(log_bugs))
      ->type_name("FAULT");
  app.add_option("--bug-count", options.bug_count, "how many times")
      ->capture_default_str()
      ->type_name("N")
      ->group(keys_of("--bug"));
}

void add_times(CLI::App& app, GenerateOptions& options) {
  add_choice(
      app, "--times", "kind", {"none", "points", "intervals"},
      [&options](const std::string& name) {
        options.times = name == "none"     ? Times::none
                        : name == "points" ? Times::points
                                           : Times::intervals;
      },
      "begin and end times: none, points (the true moments) or intervals (as clients see them)")
      ->default_str("intervals")
      ->type_name("KIND");
  const auto nanoseconds = [&](const char* flag, int64_t& to, const char* help) {
    app.add_option(flag, to, help)
        ->capture_default_str()
        ->check(CLI::Range(int64_t{0}, int64_t{1} << 60))
        ->type_name("NS")
        ->group(keys_of("--times"));
  };
  nanoseconds("--clock-error", options.clock_error,
              "nanoseconds by which the clocks of the sessions may be off");
  nanoseconds("--time-jitter", options.time_jitter,
              "nanoseconds by which the times of each transaction may be off in addition");
  app.add_flag("--timestamps", options.timestamps,
               "state the database's own order: start_ts and commit_ts");
  app.add_flag("--version-order", options.version_order,
               "state the version order of each key, from the database's log");
  add_share(app, "--abort-share", options.abort_share,
            "share of transactions rolled back by the client");
  add_share(app, "--unknown-share", options.unknown_share,
            "share of transactions whose outcome is lost");
}

Exit generate_hard_case(const GenerateState& s) {
  const auto history = hard_history(s.hard, s.options.seed);
  if (!history.ok()) return fail(history.error());
  return ended(write_history(*history, s.output, "assay"));
}

// What a file held before stays until the options are known to be right.
class GeneratedFile : public collect::LineSink {
 public:
  GeneratedFile(int fd, collect::HistoryFacts facts) : LineSink(fd, facts), fd_(fd) {}
  Status header(std::string_view meta) override {
    // EINVAL: not a regular file.
    if (fd_ != STDOUT_FILENO && ftruncate(fd_, 0) != 0 && errno != EINVAL)
      return io_error(std::strerror(errno));
    return LineSink::header(meta);
  }

 private:
  int fd_;
};

Exit generate_history(GenerateState& s) {
  if (!s.hard.kind.empty()) return generate_hard_case(s);
  if (s.level.levels.size() > 1) s.options.mix = s.level.levels;
  if (!s.level.levels.empty()) s.options.level = s.level.levels[0];
  s.options.workload = s.workload.workload;
  s.options.workload_options = s.workload.options;
  s.options.sessions = s.workload.sessions;
  s.options.txns = s.workload.txns;
  int fd = STDOUT_FILENO;
  if (s.output != "-") {
    fd = open(s.output.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) return fail(io_error(std::strerror(errno), s.output));
  }
  // If the history itself goes to the terminal, a progress line would disturb it.
  ProgressLine progress("generate", terminal_on_stderr() && isatty(fd) == 0);
  s.options.progress = [&](double fraction) { progress.update(fraction, ""); };
  const auto workload = collect::make_workload(s.workload.workload, s.workload.options);
  GeneratedFile sink(fd, {.names_versions = s.options.version_order,
                          .absent_is_never_written = s.workload.options.tombstones,
                          .has_conditions = workload.ok() && (*workload)->selects()});
  collect::LightweightOptions lightweight = lightweight_options(s);
  lightweight.progress = s.options.progress;
  const auto made = s.lightweight ? collect::generate_lightweight(lightweight, sink)
                                  : collect::generate(s.options, sink);
  progress.clear();
  if (fd != STDOUT_FILENO && close(fd) != 0 && made.ok())
    return fail(io_error(std::strerror(errno), s.output));
  return ended(made);
}

}  // namespace

Action add_generate(CLI::App& app) {
  auto s = std::make_shared<GenerateState>();
  s->workload.txns = s->options.txns;
  s->workload.sessions = s->options.sessions;
  s->level.add(app,
               "the level of the simulated database; by default session-si. Several are assigned "
               "to the sessions in turn, and each transaction declares its own");
  add_bug(app, s->options);
  s->workload.add(app);
  add_times(app, s->options);
  app.add_flag("--lightweight", s->lightweight,
               "compare-and-sets, reads and inserts of single keys from a linearizable store");
  add_share(app, "--concurrent", s->concurrent,
            "lightweight: share of the sessions that are under way at the same time");
  s->hard.add(app);
  add_seed(app, s->options.seed);
  app.add_option("--output,-o", s->output, "file to write; - is standard output")
      ->capture_default_str()
      ->type_name("FILE");
  return [s] { return generate_history(*s); };
}

}  // namespace assay::internal::cli
