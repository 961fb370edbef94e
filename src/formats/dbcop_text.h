// dbcop's text of 2025. Every byte: docs/formats/dbcop-text.md.
#pragma once

#include "formats/registry.h"

namespace assay::internal::formats {

extern const Format kDbcopText;

}  // namespace assay::internal::formats
