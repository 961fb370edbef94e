// UTF-8, one character at a time. Whole lines are checked by simdjson; this finds the place.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::internal::formats {

// Length of the valid character that `text` starts with, 0 if it does not start with one.
size_t utf8_length(std::string_view text);
// Appends a code point (no surrogate, at most 0x10FFFF).
void append_utf8(std::string& to, uint32_t code);
// Whether all of `text` is valid.
bool is_utf8(std::string_view text);

}  // namespace assay::internal::formats
