// `assay` JSON Lines, version 1: the history file of this program. Every byte:
// docs/formats/assay.md.
#pragma once

#include "formats/registry.h"

namespace assay::internal::formats {

Result<History> read_assay_jsonl(Source& source, Notes& notes);
void write_assay_jsonl(const History& history, Output& out, Losses& losses);

}  // namespace assay::internal::formats
