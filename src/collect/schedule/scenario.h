// Schedules made to cause one anomaly if the isolation allows it: those of Hermitage (Kleppmann,
// 2014), the read-only anomaly of Fekete et al. (2004), a long fork and a stale read. They are the
// files of examples/probe, which are part of the program, or those of a user's folder.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/anomaly.h"
#include "assay/level.h"
#include "assay/result.h"
#include "collect/schedule/file.h"

namespace assay::internal::collect::schedule {

struct Scenario {
  std::string name;  // Hermitage's name, if it has one
  std::string summary;
  Anomaly anomaly = Anomaly::none;
  // The weakest of our levels that the history violates exactly if the anomaly occurred.
  LevelId level = LevelId::serializable;
  File file;
};

// A file's name and text.
using NamedText = std::pair<std::string_view, std::string_view>;
extern const std::span<const NamedText> kScenarios;  // written by cmake/embed.cmake

// The scenario of a schedule that begins with the comments "-- NAME: what it shows", "-- anomaly:
// NAME" and "-- level: NAME", and has one permutation.
Result<Scenario> scenario_of(std::string_view text, std::string_view path);

// One scenario for each file, in their order.
Result<std::vector<Scenario>> all_scenarios(std::span<const NamedText> files = kScenarios);

}  // namespace assay::internal::collect::schedule
