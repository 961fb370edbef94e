// What `watch` and `check --slices` may assume about the lines, and how much they keep.
#pragma once

#include <string>

#include "assay/result.h"
#include "cli/announcer.h"
#include "cli/flags.h"
#include "watch/watcher.h"

namespace CLI {
class App;
}

namespace assay::internal::cli {

// --lateness, --settle, --window, --keep, in `group` of the help.
void add_window_flags(CLI::App& app, watch::WatchOptions& options, const std::string& group);
// Adds these and --sessions.
void add_watch_flags(CLI::App& app, watch::WatchOptions& options, const std::string& group);
// --expected-order commit_ts
void add_timestamp_order(CLI::App& app, watch::WatchOptions& options);
// --fence
void add_fence(CLI::App& app, watch::WatchOptions& options);
// --horizon
void add_horizon(CLI::App& app, watch::WatchOptions& options, const std::string& group);
// Fails if a flag was given that has no meaning with --horizon, or with fences.
Status can_have_together(const CLI::App& app, const watch::WatchOptions& options);
// --alarms, --metrics, --fail-fast
void add_watch_output(CLI::App& app, WatchOutput& output, const std::string& group);

// Takes the requested level. Fails if there is more than one, or if it cannot be watched.
Status take_level(const LevelFlags& flags, watch::WatchOptions& options);
// Creates no folder if the name is empty.
Status make_folder(const std::string& path);

}  // namespace assay::internal::cli
