#include "cli/watch_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <system_error>

#include "cli/flags.h"

namespace assay::internal::cli {
namespace {

// Adds a flag for a time, and shows its default.
CLI::Option* add_time(CLI::App& app, const std::string& flag, int64_t& nanoseconds,
                      const std::string& help) {
  return add_nanoseconds(app, flag, nanoseconds, help)
      ->default_str(fmt::format("{}s", nanoseconds / 1'000'000'000));
}

}  // namespace

void add_window_flags(CLI::App& app, watch::WatchOptions& options, const std::string& group) {
  add_time(
      app, "--lateness", options.lateness,
      "a transaction is reported at most this long after it began, by the times in the history")
      ->group(group);
  add_time(app, "--settle", options.settle,
           "treat a transaction of unknown outcome as aborted if nothing has read its writes for "
           "this long")
      ->group(group);
  app.add_option("--window", options.window, "transactions that are checked together")
      ->group(group)
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N");
  app.add_option(
         "--keep", options.keep,
         "decided transactions that are kept, to change their order and to prove violations")
      ->group(group)
      ->capture_default_str()
      ->check(CLI::Range(0, 1'000'000))
      ->type_name("N");
}

void add_watch_flags(CLI::App& app, watch::WatchOptions& options, const std::string& group) {
  app.add_option("--sessions", options.sessions,
                 "number of sessions; once each has reported, everything that all of them are past "
                 "is decided without waiting for --lateness")
      ->group(group)
      ->type_name("N");
  add_window_flags(app, options, group);
}

void add_timestamp_order(CLI::App& app, watch::WatchOptions& options) {
  app.add_option_function<std::string>(
         "--expected-order",
         [&options](const std::string& text) {
           if (text != "commit_ts") bad_flag("--expected-order", "expected commit_ts");
           options.by_timestamps = true;
         },
         "commit_ts: order transactions by the database's start_ts and commit_ts; "
         "watch whether that explains the history, at strong-si or session-si")
      ->type_name("ORDER");
}

void add_fence(CLI::App& app, watch::WatchOptions& options) {
  app.add_option("--fence", options.fence,
                 "watch session-serializable by fences: transactions that read and overwrite this "
                 "key, which each session runs now and then")
      ->type_name("KEY");
}

void add_horizon(CLI::App& app, watch::WatchOptions& options, const std::string& group) {
  app.add_option("--horizon", options.horizon,
                 "watch whether every N consecutive transactions satisfy the level by themselves, "
                 "at any level but strict-serializable and linearizable; violations among "
                 "transactions further apart are missed")
      ->group(group)
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N");
}

Status can_have_together(const CLI::App& app, const watch::WatchOptions& options) {
  if (options.horizon > 0)
    return refuse_flags(app,
                        {"--lateness", "--settle", "--window", "--keep", "--expected-order",
                         "--certificate", "--state", "--fence"},
                        "has no effect with --horizon");
  if (!options.fence.empty()) return refuse_flags(app, {"--lateness"}, "has no effect with fences");
  return Ok{};
}

void add_watch_output(CLI::App& app, WatchOutput& output, const std::string& group) {
  app.add_option("--alarms", output.alarms,
                 "folder for the history and the certificate of each alarm, alarm-1.jsonl and "
                 "alarm-1.cert.json")
      ->group(group)
      ->type_name("FOLDER");
  app.add_option("--metrics", output.metrics, "write metrics for Prometheus there, once a second")
      ->group(group)
      ->type_name("FILE");
  app.add_flag("--fail-fast", output.fail_fast, "stop at the first alarm")->group(group);
}

Status take_level(const LevelFlags& flags, watch::WatchOptions& options) {
  if (flags.levels.size() > 1) return usage_error("--level: expected one level");
  if (options.by_timestamps) options.level = LevelId::strong_si;
  if (!options.fence.empty()) options.level = LevelId::session_serializable;
  if (!flags.levels.empty()) options.level = flags.levels[0];
  return watch::can_watch(options);
}

Status make_folder(const std::string& path) {
  if (path.empty()) return Ok{};
  std::error_code error;
  std::filesystem::create_directories(path, error);
  return error ? Status(io_error(error.message(), path)) : Status(Ok{});
}

}  // namespace assay::internal::cli
