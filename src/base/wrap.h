// Text for terminals, broken at blanks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assay::internal {

// Letters of UTF-8, not bytes.
size_t columns_of(std::string_view text);

// `text` with its lines ended within `width` columns; what has no blank to break at may be longer.
// `used` columns stand before the first line, `indent` blanks go before the others.
std::string wrapped(std::string_view text, size_t width, size_t used = 0, size_t indent = 0);

}  // namespace assay::internal
