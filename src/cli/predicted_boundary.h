// `assay predict --at causal`: what recorded transactions could read at a weak level, as text or as
// JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/budget.h"
#include "assay/history.h"
#include "assay/level.h"
#include "assay/result.h"
#include "cli/exit_code.h"
#include "cli/predicted_files.h"

namespace assay::internal::cli {

// Returns the weak level that --at knows by this name.
std::optional<LevelId> find_weak_level(std::string_view name);
std::vector<std::string> weak_level_names();

// Prints the executions that are possible at each level, and writes them.
Result<Exit> predict_at_weak_levels(const History& history, const std::vector<LevelId>& levels,
                                    const PredictedFiles& files, bool json, Budget& budget);

}  // namespace assay::internal::cli
