// What `watch` and `check --slices` may take for granted of the lines, and how much they keep.
#pragma once

#include <string>

#include "watch/watcher.h"

namespace CLI {
class App;
}

namespace assay::internal::cli {

// --lateness, --sessions, --settle, --window, --keep, in `group` of the help.
void add_watch_flags(CLI::App& app, watch::WatchOptions& options, const std::string& group);

}  // namespace assay::internal::cli
