// AWDIT's test format. Every byte: docs/formats/awdit.md.
#pragma once

#include "formats/registry.h"

namespace assay::internal::formats {

extern const Format kAwdit;

}  // namespace assay::internal::formats
