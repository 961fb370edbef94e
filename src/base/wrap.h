// Wraps text for terminals at blanks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assay::internal {

// The number of UTF-8 characters, not bytes.
size_t columns_of(std::string_view text);

// `text` with line breaks, so that lines have at most `width` columns; a word without a blank may
// be longer. The first line begins after `used` columns, the others with `indent` blanks.
std::string wrapped(std::string_view text, size_t width, size_t used = 0, size_t indent = 0);

}  // namespace assay::internal
