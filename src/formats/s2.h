// The history of S2's verification: a stream's tail. Every byte: docs/formats/s2.md.
#pragma once

#include "formats/registry.h"

namespace assay::internal::formats {

extern const Format kS2;

}  // namespace assay::internal::formats
