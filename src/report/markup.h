// Escaping for XML and HTML.
#pragma once

#include <string>
#include <string_view>

namespace assay::internal {

// Text or a quoted attribute, printable (base/printable.h): XML may not hold U+001B, whatever it is
// written as.
std::string escape(std::string_view text);

}  // namespace assay::internal
