// VeriStrong's list text. Every byte: docs/formats/veristrong.md.
#pragma once

#include "formats/registry.h"

namespace assay::internal::formats {

extern const Format kVeristrong;

}  // namespace assay::internal::formats
