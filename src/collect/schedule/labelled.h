// Scripts of bug trackers and of Hermitage: SQL in which comments, prompts or columns say which
// session each statement belongs to.
#pragma once

#include <string_view>

#include "assay/result.h"
#include "collect/schedule/file.h"

namespace assay::internal::collect::schedule {

Result<File> parse_labelled(std::string_view text);

}  // namespace assay::internal::collect::schedule
