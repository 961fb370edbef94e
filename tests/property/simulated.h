// Histories of the simulated database, for tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "collect/generate.h"

namespace assay::internal {

inline History make(const collect::GenerateOptions& options) {
  collect::HistorySink sink({.absent_is_never_written = options.workload_options.tombstones});
  const auto stats = collect::generate(options, sink);
  EXPECT_TRUE(stats.ok()) << stats.error().to_string();
  auto history = sink.take();
  EXPECT_TRUE(history.ok()) << history.error().to_string();
  return std::move(history).value();
}

// Linearizable is about single operations only.
inline bool can_be_made_at(const collect::WorkloadInfo& workload, LevelId level) {
  return workload.single_operations || !level_info(level).single_operations;
}

// Some bugs only queries by condition show.
inline bool can_show(const collect::WorkloadInfo& workload, Anomaly bug) {
  return collect::workload_for(bug) == "general" ||
         std::ranges::find(workload.shows, bug) != workload.shows.end();
}

// Of a level, a workload or an anomaly, as a test may be called.
inline std::string test_name(std::string_view name) {
  std::string result(name);
  std::replace(result.begin(), result.end(), '-', '_');
  return result;
}

}  // namespace assay::internal
