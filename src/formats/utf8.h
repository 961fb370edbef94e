// UTF-8. Whole lines are checked by simdjson; base/utf8.h finds the place of a fault.
#pragma once

#include <string_view>

#include "base/utf8.h"

namespace assay::internal::formats {

// Whether all of `text` is valid.
bool is_utf8(std::string_view text);

}  // namespace assay::internal::formats
