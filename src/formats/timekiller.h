// TimeKiller's JSON. Every byte: docs/formats/timekiller.md.
#pragma once

#include "formats/registry.h"

namespace assay::internal::formats {

extern const Format kTimekiller;

}  // namespace assay::internal::formats
