// PostgreSQL's isolation specifications (src/test/isolation/specs).
#pragma once

#include <string_view>

#include "assay/result.h"
#include "collect/schedule/file.h"

namespace assay::internal::collect::schedule {

// Whether the text begins like one.
bool is_specification(std::string_view text);
Result<File> parse_specification(std::string_view text);

}  // namespace assay::internal::collect::schedule
