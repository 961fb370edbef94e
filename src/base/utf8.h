// UTF-8, one character at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace assay::internal {

// Length of the valid character that `text` starts with, 0 if it does not start with one.
size_t utf8_length(std::string_view text);
// The code point of the character that `text` starts with, which is `length` bytes long.
uint32_t utf8_code(std::string_view text, size_t length);
// Appends a code point (not a surrogate, at most 0x10FFFF).
void append_utf8(std::string& to, uint32_t code);

}  // namespace assay::internal
