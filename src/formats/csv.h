// Traces of applications as tables. Every byte: docs/formats/csv.md.
#pragma once

#include "formats/registry.h"

namespace assay::internal::formats {

extern const Format kCsv;

}  // namespace assay::internal::formats
