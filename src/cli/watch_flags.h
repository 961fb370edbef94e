// What `watch` and `check --slices` may take for granted of the lines, and how much they keep.
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
// These and --sessions.
void add_watch_flags(CLI::App& app, watch::WatchOptions& options, const std::string& group);
// --expected-order commit_ts
void add_timestamp_order(CLI::App& app, watch::WatchOptions& options);
// --fence
void add_fence(CLI::App& app, watch::WatchOptions& options);
// --horizon
void add_horizon(CLI::App& app, watch::WatchOptions& options, const std::string& group);
// An error if a flag was given that means nothing with --horizon, or by fences.
Status can_have_together(const CLI::App& app, const watch::WatchOptions& options);
// --alarms, --metrics, --fail-fast
void add_watch_output(CLI::App& app, WatchOutput& output, const std::string& group);

// The level asked for, or an error: more than one, or one that cannot be watched.
Status take_level(const LevelFlags& flags, watch::WatchOptions& options);
// None if the name is empty.
Status make_folder(const std::string& path);

}  // namespace assay::internal::cli
