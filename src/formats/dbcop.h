// dbcop's `history.bincode` of 2019. Every byte: docs/formats/dbcop.md.
#pragma once

#include "formats/registry.h"

namespace assay::internal::formats {

extern const Format kDbcop;

}  // namespace assay::internal::formats
