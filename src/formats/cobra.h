// Cobra's log directories. Every byte: docs/formats/cobra.md.
#pragma once

#include "formats/registry.h"

namespace assay::internal::formats {

// Reads one log, as the only session; for fuzzing.
Result<History> read_cobra_log(std::string_view bytes, const std::string& name);

}  // namespace assay::internal::formats
