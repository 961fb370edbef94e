// What a reader tolerated, for people.
#pragma once

#include <string>

#include "assay/format.h"

namespace assay::internal {

// "run.jsonl:812: what was tolerated".
std::string placed_note(const std::string& file, const ReadNote& note);

}  // namespace assay::internal
