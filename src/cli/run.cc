#include "collect/run.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/progress.h"
#include "cli/checking.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/hunt.h"
#include "cli/interrupts.h"
#include "cli/keys.h"
#include "cli/repeated_runs.h"
#include "cli/run_watch.h"
#include "cli/watch_flags.h"
#include "collect/driver.h"
#include "collect/sql/workload.h"
#include "collect/workloads/fences.h"
#include "evidence/log.h"
#include "explain/names.h"
#include "formats/compression.h"
#include "report/summary.h"

namespace assay::internal::cli {
namespace {

constexpr double kHuntSeconds = 600;
constexpr char kWatching[] = "Watching (--watch)";
constexpr uint32_t kFencesUnlessGiven = 20;

struct RunState {
  bool list = false;
  bool until_violation = false;
  RepeatFlags repeat;
  collect::RunOptions options;
  WorkloadFlags workload;
  CheckFlags check;
  bool watch = false;
  watch::WatchOptions watching;
  WatchOutput watch_output;
  std::optional<uint64_t> keep_files;
};

std::string in_words(const collect::VersionLogReport& log) {
  if (log.source.empty()) return "no version order: " + log.missing;
  std::string text =
      fmt::format("version order: {} versions of {} transactions in {:.2f} s, from {} up to {}",
                  grouped(log.versions), grouped(log.txns), log.seconds, log.source,
                  display(log.position, 200));
  if (log.unnamed > 0)
    text += fmt::format("; the log does not name {} of them", grouped(log.unnamed));
  if (log.not_committed > 0)
    text += fmt::format("; {} of unknown outcome did not commit", grouped(log.not_committed));
  if (log.queries > 0)
    text += fmt::format("; the rows skipped by {} of {} queries are known",
                        grouped(log.resolved_queries), grouped(log.queries));
  if (!log.missing.empty()) text += "; not complete: " + display(log.missing, 200);
  return text;
}

void report_run(const collect::RunStats& stats, const collect::RunOptions& o) {
  const double rate = static_cast<double>(stats.operations) / std::max(stats.seconds, 1e-9);
  note(fmt::format(
      "{} committed, {} aborted, {} of unknown outcome in {:.1f} s{}{}, {} operations/s; {}",
      grouped(stats.committed), grouped(stats.aborted), grouped(stats.unknown), stats.seconds,
      stats.stopped_early ? ", stopped early" : "",
      stats.waited_share > 0.1
          ? fmt::format(", {:.0f} % of it in statements of over 0.1 s", 100 * stats.waited_share)
          : "",
      grouped(static_cast<uint64_t>(rate)),
      o.record ? "history in " + stats.history : "no history"));
  if (stats.log) note(in_words(*stats.log));
  if (stats.final_reads_aborted) note("the final reads were aborted repeatedly and are left out");
  for (const auto& [status, message, count] : stats.failures)
    note(fmt::format("  {} {}: {}", status == TxnStatus::unknown ? "of unknown outcome" : "aborted",
                     counted(count, "time", "times"), display(message, 200)));
}

// Prints the values to choose from.
Exit list_choices() {
  std::string out = "Workloads (--workload), and the anomalies each can show:\n";
  for (const collect::WorkloadInfo& w : collect::all_workloads()) {
    out += fmt::format("\n  {:<12} {}\n", w.name, w.summary);
    std::string line = "              ";
    for (const Anomaly a : w.shows) {
      const std::string_view name = anomaly_info(a).name;
      if (line.size() + name.size() > 98) {
        out += line + "\n";
        line = "              ";
      }
      line += ' ' + std::string(name);
    }
    out += line + "\n";
  }
  out += "\nDatabases (--database), and their isolations (--isolation), the first the default:\n";
  for (const collect::DriverInfo& d : collect::all_drivers()) {
    out += fmt::format("\n  {:<32} {}\n", d.example, d.summary);
    for (const collect::IsolationName& i : d.isolations)
      out += fmt::format("    {:<30} {}\n", i.name, i.summary);
  }
  return ended(print(out));
}

// Checks for what the watcher would refuse once the run is going on.
Status can_watch_workload(const collect::RunOptions& o) {
  auto workload = o.sql.empty() ? collect::make_workload(o.workload, o.workload_options)
                                : collect::sql::make_workload(o.sql);
  if (!workload.ok()) return workload.error();
  const std::string name = o.sql.empty() ? "the workload '" + o.workload + "'" : o.sql;
  if ((*workload)->is_of_registers()) return Ok{};
  return usage_error(
      fmt::format("{} cannot be watched: it has lists, ranges or conditions; expected only reads, "
                  "writes, deletes, inserts and compare-and-sets",
                  name));
}

Status can_watch_history(const std::string& path) {
  const auto refused = [&](std::string message) {
    return usage_error(std::move(message)).in(path);
  };
  if (formats::compression_of_path(path) != formats::Compression::none)
    return refused("a compressed history cannot be watched; expected a name without .gz or .zst");
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored))
    return refused("cannot be watched; expected a regular file");
  return Ok{};
}

// Session-serializable is watched by fences, which the sessions of a workload execute between its
// transactions.
Status take_fences(RunState& s) {
  const std::vector<LevelId>& levels = s.check.levels.levels;
  if (levels.size() != 1 || level_info(levels[0]).watched_by != WatchedBy::fences ||
      s.watching.horizon > 0)
    return Ok{};
  collect::RunOptions& o = s.options;
  if (!o.sql.empty())
    return usage_error(
        "session-serializable is watched by fences, which only assay's workloads write; expected "
        "another level with --sql");
  if (o.workload_options.fences == 0) o.workload_options.fences = kFencesUnlessGiven;
  s.watching.fence = std::to_string(collect::kFenceKey);
  return Ok{};
}

// Checks everything that can be known before the database is touched.
Status prepare_watching(RunState& s, const CLI::App& app) {
  Status can_be_watched =
      refuse_flags(app,
                   {"--until-violation", "--no-history", "--version-order", "--time", "--memory",
                    "--effort", "--stats", "--report", "--certificate", "--baseline",
                    "--write-baseline", "--clock-drift", "--allow-empty", "--require-contention"},
                   "needs a history that has ended; expected --watch without it");
  if (!can_be_watched.ok()) return can_be_watched;
  if (s.check.aborted_reads)
    return usage_error(
        "a watch does not check the reads of transactions that did not commit; expected --watch "
        "without it");
  collect::RunOptions& o = s.options;
  s.watching.sessions = o.sessions;
  if (Status can = take_fences(s); !can.ok()) return can;
  if (Status can = can_have_together(app, s.watching); !can.ok()) return can;
  if (Status can = take_level(s.check.levels, s.watching); !can.ok()) return can;
  if (Status can = can_watch_history(o.history); !can.ok()) return can;
  if (Status can = can_watch_workload(o); !can.ok()) return can;
  // The final reads read many keys in one transaction.
  if (level_info(s.watching.level).single_operations) o.final_read_keys = 0;
  if (app.get_option("--txns")->count() == 0) o.txns = 0;
  o.endless = true;
  s.watch_output.json = s.check.output.json;
  return make_folder(s.watch_output.alarms);
}

// Several isolations make a history whose transactions declare their levels.
Status take_isolations(RunState& s) {
  collect::RunOptions& o = s.options;
  if (o.isolation.find(',') == std::string::npos && o.isolation.find('=') == std::string::npos)
    return Ok{};
  auto mix = collect::parse_mix(o.isolation);
  if (!mix.ok()) return mix.error();
  o.mix = std::move(*mix);
  o.isolation.clear();
  if (o.record && s.check.levels.levels.empty()) s.check.levels.levels = {LevelId::mixed};
  return Ok{};
}

// An alarm has priority over the report that the run could not go on.
Exit run_and_watch(RunState& s) {
  collect::RunOptions& o = s.options;
  o.stop = &stop_driving_when_interrupted();
  RunWatch watch(s.watching, s.watch_output, s.keep_files);
  o.parts = &watch;
  const auto stats = collect::run(o);
  if (stats.ok()) report_run(*stats, o);
  stop_checking_when_interrupted();
  const Exit run = ended(stats);
  const Exit watched = watch.finish();
  return run == Exit::satisfied || watched == Exit::violated ? watched : run;
}

Exit run_and_check(RunState& s, const CLI::App& app) {
  if (s.list) return list_choices();
  collect::RunOptions& o = s.options;
  take_databases_from_environment(o.databases);
  for (const CLI::Option* given : app.get_options([](const auto* one) { return one->count() > 0; }))
    if (!o.sql.empty() &&
        (given->get_name() == "--workload" || given->get_name() == "--until-violation" ||
         flag_of_key(*given) == "--workload"))
      return fail(usage_error(fmt::format(
          "{} applies to assay's workloads; expected --sql without it", given->get_name())));
  o.workload = s.workload.workload;
  o.workload_options = s.workload.options;
  o.sessions = s.workload.sessions;
  o.txns = s.workload.txns;
  if (Status mixed = take_isolations(s); !mixed.ok()) return fail(mixed.error());
  if (Status defined = take_definition(s.check); !defined.ok()) return fail(defined.error());
  if (s.watch)
    if (Status can = prepare_watching(s, app); !can.ok()) return fail(can.error());
  if (s.watch_output.fail_fast && !s.watch && s.repeat.runs == 0)
    return fail(usage_error("--fail-fast needs --watch or --repeat"));
  if (s.watch && s.repeat.runs > 0)
    return fail(usage_error("--watch watches one run; expected --watch or --repeat, not both"));
  if (!o.record && (s.until_violation || s.repeat.runs > 0 || !o.history.empty() ||
                    !s.check.levels.levels.empty()))
    return fail(usage_error("with --no-history there is nothing to check"));
  for (const char* of_general : {"--long-ops", "--own-writes"})
    if (s.until_violation && app.get_option(of_general)->count() > 0 && o.workload != "general")
      return fail(usage_error(fmt::format(
          "{} is a key of the workload general; expected --until-violation --workload general",
          of_general + 2)));
  for (const char* of_some : {"--load", "--keys-alive"})
    if (s.until_violation && app.get_option(of_some)->count() > 0 &&
        app.get_option("--workload")->count() == 0)
      return fail(usage_error(
          fmt::format("{} is a key of some workloads; expected --workload with it", of_some + 2)));
  s.repeat.fail_fast = s.watch_output.fail_fast;
  if (s.repeat.runs > 0) return repeat(o, s.repeat, s.check);
  if (s.until_violation) {
    const double seconds = s.check.budget.seconds > 0 ? s.check.budget.seconds : kHuntSeconds;
    return hunt(o, app, seconds, s.check);
  }
  o.warning = [](const std::string& message) { note("warning: " + message); };
  o.recording = [](const std::string& path) { note(fmt::format("recording to {}", path)); };
  ProgressLine progress("run");
  o.progress = [&](const collect::RunProgress& p) {
    progress.update(
        p.fraction,
        fmt::format("{} committed, {} aborted, {:.0f}/s", grouped(p.committed), grouped(p.aborted),
                    p.seconds > 0 ? static_cast<double>(p.committed) / p.seconds : 0.0));
  };
  if (s.watch) {
    o.progress = nullptr;  // the watcher reports the progress
    return run_and_watch(s);
  }
  o.stop = &stop_driving_when_interrupted();
  const auto stats = collect::run(o);
  progress.clear();
  if (!stats.ok()) return fail(stats.error());
  report_run(*stats, o);
  if (!o.record) return Exit::satisfied;
  return check_files({stats->history}, s.check);
}

void add_faults(CLI::App& app, collect::FaultOptions& faults) {
  const std::vector<std::string> names = names_of(collect::all_faults(), collect::fault_name);
  add_choices(
      app, "--fault", "fault", names,
      [&faults](const std::string& name) { faults.kinds.push_back(*collect::find_fault(name)); },
      "disturb the database, at times drawn from the seed: " + listed(names))
      ->type_name("KIND");
  add_seconds(app, "--fault-interval", faults.interval,
              "mean time between faults; each lasts about half of it")
      ->default_str("5s")
      ->group(keys_of("--fault"));
  app.add_option(
         "--node-command", faults.node_command,
         "a command that acts on the process of node N when kill N, start N, pause N or resume N "
         "is appended to it, such as 'dev/db node galera'; for the faults kill, pause, restart")
      ->configurable(false)
      ->type_name("COMMAND");
  put_under(app, "Faults", {"--fault", "--node-command"});
}

void add_version_order(CLI::App& app, collect::RunOptions& o) {
  std::string databases;
  for (const evidence::LogInfo& log : evidence::all_logs())
    databases += fmt::format("{}{} ({})", databases.empty() ? "" : "; ", log.scheme, log.summary);
  app.add_flag_callback(
      "--version-order", [&o] { o.open_log = evidence::open_version_log; },
      "write the version order of each key into the history, as read from the database's log at "
      "the end: " +
          databases);
}

void add_database(CLI::App& app, collect::RunOptions& o) {
  app.add_option("--database", o.databases,
                 "the database to drive; repeatable for several endpoints of one database; by "
                 "default ASSAY_DATABASE_URL or, if that is not set, an embedded SQLite database "
                 "that is removed at the end. Examples: " +
                     listed(names_of(collect::all_drivers(), &collect::DriverInfo::example)))
      ->allow_extra_args(false)
      ->type_name("URL");
  app.add_option(
         "--isolation", o.isolation,
         "the isolation level, as the database spells it. Several, as in A,B=LEVEL, are assigned "
         "to the sessions in turn; each transaction declares the level of that name, or LEVEL")
      ->type_name("NAME");
  app.add_option("--history", o.history,
                 "new file to record to, compressed if it ends in .gz or .zst; by default "
                 "assay-history-TIME-RUN.jsonl in the current folder")
      ->type_name("FILE");
  app.add_flag("--force", o.recorder.overwrite, "replace the --history file if it exists");
  using collect::Fsync;
  add_choice(
      app, "--fsync", "moment",
      names_of(std::array{Fsync::never, Fsync::end, Fsync::second, Fsync::commit},
               collect::fsync_name),
      [&o](const std::string& name) { o.recorder.fsync = *collect::find_fsync(name); },
      "when the history is synced to the disk: never; end, at the end; second, twice a second and "
      "at the end; commit, with each line, before COMMIT is sent")
      ->default_str(std::string(collect::fsync_name(o.recorder.fsync)))
      ->type_name("WHEN");
  app.add_flag_callback(
      "--no-history", [&o] { o.record = false; },
      "send the same statements, but record and check nothing: to measure what the recorder costs");
  add_seconds(app, "--duration", o.seconds,
              "stop driving after this time, even if transactions are left: 60s, 5m");
  add_statement_timeout(app, o.timeout);
  app.add_flag("--operation-times", o.time_operations,
               "record when each operation was sent and answered, for drawings in reports; the "
               "history is nearly twice as large");
  app.add_option("--final-read-keys", o.final_read_keys,
                 "number of keys that every session reads again at the end")
      ->capture_default_str()
      ->type_name("N");
}

void add_watching(CLI::App& app, RunState& s) {
  CLI::Option* watch = app.add_flag("--watch", s.watch,
                                    "check the history while it is recorded, as watch does; "
                                    "without --txns and --duration the run goes on until a signal");
  add_bytes(app, "--rotate", s.options.part_bytes,
            "start a new file when the current one reaches this size: NAME.0001.jsonl, "
            "NAME.0002.jsonl, …")
      ->group(kWatching);
  app.add_option("--keep-files", s.keep_files,
                 "remove full files, except the last N, those that the watcher still needs and "
                 "those of an alarm")
      ->group(keys_of("--rotate"))
      ->needs("--rotate")
      ->type_name("N");
  add_watch_output(app, s.watch_output, kWatching);
  add_window_flags(app, s.watching, kWatching);
  add_horizon(app, s.watching, kWatching);
  for (CLI::Option* option :
       app.get_options([](const CLI::Option* o) { return o->get_group() == kWatching; }))
    if (option->get_name() != "--fail-fast") option->needs(watch);
}

}  // namespace

Action add_run(CLI::App& app) {
  auto s = std::make_shared<RunState>();
  app.add_flag("--list", s->list, "list the workloads, databases and isolations");
  add_database(app, s->options);
  add_version_order(app, s->options);
  add_faults(app, s->options.faults);
  app.add_flag("--until-violation", s->until_violation,
               "run repeatedly with varying parameters, longer and longer, until a --level is "
               "violated or --time (10m) is over; then shrink the history");
  CLI::Option* const repeat =
      app.add_option("--repeat", s->repeat.runs,
                     "make the run N times, each with another seed, and count how often a --level "
                     "is violated; reports how many clean runs show that a fix helps. For git "
                     "bisect run: 0 no violation, 1 violation, 125 unknown")
          ->type_name("N")
          ->check(CLI::PositiveNumber)
          ->excludes("--until-violation");
  app.add_option("--confidence", s->repeat.confidence, "confidence required of a fix")
      ->type_name("SHARE")
      ->capture_default_str()
      ->check(CLI::Range(0.5, 0.999999))
      ->needs(repeat)
      ->group(keys_of("--repeat"));
  s->workload.add(app);
  app.add_flag(
         "--load", s->workload.options.load,
         "write every key before the sessions begin, in one transaction of a separate session: no "
         "read finds its key absent, and no two sessions conflict over an empty table")
      ->group(keys_of("--workload"));
  app.add_option("--sql", s->options.sql,
                 "run the transactions of this file, your own in plain SQL, instead of a workload; "
                 "see docs/sql-files.md")
      ->type_name("FILE");
  add_seed(app, s->options.seed);
  s->check.levels.aborted_reads = &s->check.aborted_reads;
  s->check.levels.definition = &s->check.definition;
  s->check.levels.add(app,
                      "a level to decide, or FILE.toml that defines one; the exit code is then the "
                      "verdict");
  s->check.output.add(app);
  s->check.budget.add(app);
  add_without(app, s->check.speed_ups);
  add_aborted_reads(app, s->check.aborted_reads);
  add_clock_drift(app, s->check.clock_drift);
  add_allow_empty(app, s->check.allow_empty);
  add_require_contention(app, s->check.require_contention);
  add_watching(app, *s);
  put_under(app, kRecording,
            {"--force", "--fsync", "--no-history", "--duration", "--statement-timeout",
             "--operation-times", "--final-read-keys", "--version-order"});
  put_under(app, kReports, {"--certificate"});
  return [s, &app] { return run_and_check(*s, app); };
}

}  // namespace assay::internal::cli
