// dbcop's JSON of 2025. Every byte: docs/formats/dbcop-json.md.
#pragma once

#include "formats/registry.h"

namespace assay::internal::formats {

extern const Format kDbcopJson;

}  // namespace assay::internal::formats
