// Random conditions that use every operator.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/rng.h"

namespace assay::internal {

struct ConditionShape {
  std::vector<std::string> columns;       // as they are written in the condition
  std::function<std::string()> constant;  // draws one, as it is written; `null` is added
};

// Returns a condition as it is written, nested at most three deep.
std::string random_condition(Rng& rng, const ConditionShape& shape);

// Returns a pattern derived from the text: some of its characters become _, some stretches become
// %.
std::string random_pattern(Rng& rng, std::string text);

}  // namespace assay::internal
