// Jepsen's console log. Every byte: docs/formats/jepsen-log.md.
#pragma once

#include "formats/registry.h"

namespace assay::internal::formats {

extern const Format kJepsenLog;

}  // namespace assay::internal::formats
