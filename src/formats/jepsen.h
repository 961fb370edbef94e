// Jepsen's histories in EDN, and the same in JSON. Every byte: docs/formats/jepsen.md,
// elle-json.md.
#pragma once

#include "formats/registry.h"

namespace assay::internal::formats {

extern const Format kJepsen;
extern const Format kElleJson;

}  // namespace assay::internal::formats
