// The output of `assay predict` as a certificate file: schedules that go wrong, why programs hold,
// and executions at weak levels.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "assay/result.h"
#include "certify/boundary.h"
#include "certify/robustness.h"
#include "certify/schedule.h"

namespace assay::internal::certify {

struct Predictions {
  std::vector<Schedule> schedules;
  std::vector<Robustness> holds;
  std::vector<WeakExecution> executions = {};
};

// Whether the text of a certificate file holds predictions.
bool holds_predictions(std::string_view json);
std::string write_predictions(const Predictions& predictions, const History& history);
// `name`: the name of the file, for messages.
Result<Predictions> read_predictions(std::string_view json, const History& history,
                                     const std::string& name);

}  // namespace assay::internal::certify
