// Writes a history as Jepsen's operations, in EDN or JSON.
#pragma once

#include "formats/registry.h"

namespace assay::internal::formats {

void write_jepsen(const History& history, bool json, Output& out, Losses& losses);

}  // namespace assay::internal::formats
