// `.hist`: histories written by people. Every byte: docs/formats/hist.md.
#pragma once

#include "formats/registry.h"

namespace assay::internal::formats {

Result<History> read_hist(Source& source, Notes& notes);
void write_hist(const History& history, Output& out, Losses& losses);

}  // namespace assay::internal::formats
