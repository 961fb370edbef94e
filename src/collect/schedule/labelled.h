// Scripts of trackers and of Hermitage: SQL of which comments, prompts or columns say of which
// session it is.
#pragma once

#include <string_view>

#include "assay/result.h"
#include "collect/schedule/file.h"

namespace assay::internal::collect::schedule {

Result<File> parse_labelled(std::string_view text);

}  // namespace assay::internal::collect::schedule
