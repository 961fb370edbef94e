// The defects that a reader tolerated, in words.
#pragma once

#include <string>

#include "assay/format.h"

namespace assay::internal {

// "run.jsonl:812: …", with the tolerated defect.
std::string placed_note(const std::string& file, const ReadNote& note);

}  // namespace assay::internal
