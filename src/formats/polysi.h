// PolySI's and Plume's text, one operation a line. Every byte: docs/formats/polysi.md.
#pragma once

#include "formats/registry.h"

namespace assay::internal::formats {

extern const Format kPolysi;

}  // namespace assay::internal::formats
