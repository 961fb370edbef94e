// AWDIT's test format. Every byte: docs/formats/awdit.md.
#pragma once

#include "formats/registry.h"

namespace assay::formats {

extern const Format kAwdit;

}  // namespace assay::formats
