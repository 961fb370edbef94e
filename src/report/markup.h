// Escaping for XML and HTML.
#pragma once

#include <string>
#include <string_view>

namespace assay::internal {

// Text or a quoted attribute. Bytes that no XML document may hold become U+FFFD.
std::string escape(std::string_view text);

}  // namespace assay::internal
