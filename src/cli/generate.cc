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

std::string bug_names() {
  std::string names;
  for (const Anomaly a : collect::all_bugs())
    names += (names.empty() ? "" : ", ") + std::string(anomaly_info(a).name);
  return names;
}

std::string log_bug_names() {
  std::string names;
  for (const collect::LogBugInfo& bug : collect::all_log_bugs())
    names += (names.empty() ? "" : ", ") + std::string(bug.name);
  return names;
}

void add_bug(CLI::App& app, GenerateOptions& options) {
  app.add_option_function<std::string>(
         "--bug",
         [&options](const std::string& name) {
           const auto bug = find_anomaly(name);
           const auto bugs = collect::all_bugs();
           if (!bug || std::find(bugs.begin(), bugs.end(), *bug) == bugs.end())
             bad_flag("--bug", fmt::format("no bug '{}'; expected one of {}", name, bug_names()));
           options.bug = *bug;
         },
         "plant a fault that causes this anomaly: " + bug_names())
      ->type_name("ANOMALY");
  app.add_option_function<std::string>(
         "--log-bug",
         [&options](const std::string& name) {
           const auto bugs = collect::all_log_bugs();
           const auto bug = std::ranges::find(bugs, name, &collect::LogBugInfo::name);
           if (bug == bugs.end())
             bad_flag("--log-bug",
                      fmt::format("no fault '{}'; expected one of {}", name, log_bug_names()));
           options.log_bug = bug->bug;
         },
         "plant a fault of what the database says of itself: " + log_bug_names())
      ->type_name("FAULT");
  app.add_option("--bug-count", options.bug_count, "how many times")
      ->capture_default_str()
      ->type_name("N")
      ->group(keys_of("--bug"));
}

void add_times(CLI::App& app, GenerateOptions& options) {
  app.add_option_function<std::string>(
         "--times",
         [&options](const std::string& name) {
           if (name == "none")
             options.times = Times::none;
           else if (name == "points")
             options.times = Times::points;
           else if (name == "intervals")
             options.times = Times::intervals;
           else
             bad_flag("--times", fmt::format("no '{}'; expected none, points or intervals", name));
         },
         "begin and end times: none, points (the true moments) or intervals (as clients see them)")
      ->default_str("intervals")
      ->type_name("KIND");
  app.add_option("--clock-error", options.clock_error,
                 "nanoseconds by which the clocks of the sessions may be off")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 60))
      ->type_name("NS")
      ->group(keys_of("--times"));
  app.add_option("--time-jitter", options.time_jitter,
                 "nanoseconds by which the times of each transaction may be off in addition")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 60))
      ->type_name("NS")
      ->group(keys_of("--times"));
  app.add_flag("--timestamps", options.timestamps,
               "state the database's own order: start_ts and commit_ts");
  app.add_flag(
      "--version-order", options.version_order,
      "state in which order the versions of each key were installed, from the database's log");
  app.add_option("--abort-share", options.abort_share,
                 "share of transactions given up by the client")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0))
      ->type_name("0…1")
      ->group(keys_of("--workload"));
  app.add_option("--unknown-share", options.unknown_share,
                 "share of transactions whose outcome is lost")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0))
      ->type_name("0…1")
      ->group(keys_of("--workload"));
}

Exit generate_hard_case(const GenerateState& s) {
  const auto history = hard_history(s.hard, s.options.seed);
  if (!history.ok()) return fail(history.error());
  const auto losses = write_history(*history, s.output, "assay");
  return losses.ok() ? Exit::satisfied : fail(losses.error());
}

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
    fd = open(s.output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) return fail(io_error(std::strerror(errno), s.output));
  }
  // Where the history itself goes to the terminal, a progress line would be in its way.
  ProgressLine progress("generate", terminal_on_stderr() && isatty(fd) == 0);
  s.options.progress = [&](double fraction) { progress.update(fraction, ""); };
  const auto workload = collect::make_workload(s.workload.workload, s.workload.options);
  collect::LineSink sink(fd, {.names_versions = s.options.version_order,
                              .absent_is_never_written = s.workload.options.tombstones,
                              .has_conditions = workload.ok() && (*workload)->selects()});
  collect::LightweightOptions lightweight = lightweight_options(s);
  lightweight.progress = s.options.progress;
  const auto made = s.lightweight ? collect::generate_lightweight(lightweight, sink)
                                  : collect::generate(s.options, sink);
  progress.clear();
  if (fd != STDOUT_FILENO && close(fd) != 0 && made.ok())
    return fail(io_error(std::strerror(errno), s.output));
  return made.ok() ? Exit::satisfied : fail(made.error());
}

}  // namespace

Action add_generate(CLI::App& app) {
  auto s = std::make_shared<GenerateState>();
  s->workload.txns = s->options.txns;
  s->workload.sessions = s->options.sessions;
  s->level.add(app,
               "the level that the simulated database gives; by default session-si. Several "
               "are taken in turn by the sessions, and each transaction declares its own");
  add_bug(app, s->options);
  s->workload.add(app);
  add_times(app, s->options);
  app.add_flag("--lightweight", s->lightweight,
               "compare-and-sets, reads and inserts of single keys from a linearizable store");
  app.add_option("--concurrent", s->concurrent,
                 "lightweight: share of the sessions that are under way at the same time")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0))
      ->type_name("0…1")
      ->group(keys_of("--workload"));
  s->hard.add(app);
  add_seed(app, s->options.seed);
  app.add_option("--output,-o", s->output, "file to write; - is standard output")
      ->capture_default_str()
      ->type_name("FILE");
  return [s] { return generate_history(*s); };
}

}  // namespace assay::internal::cli
