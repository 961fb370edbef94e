// Escaping for XML and HTML.
#pragma once

#include <string>
#include <string_view>

namespace assay::internal {

// Escapes text or a quoted attribute and makes it printable (base/printable.h): XML may not hold
// U+001B in any spelling.
std::string escape(std::string_view text);

}  // namespace assay::internal
