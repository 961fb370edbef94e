// What may be shown to people. Files come from strangers, and a name in one of them can repaint a
// terminal (U+001B, U+009B), reverse the text beside it (U+202E), hide (U+200B) or end a line
// (U+2028). Such characters are shown as escapes: "\x1b", "\u202e". They are escapes of JSON too,
// where control characters of ASCII have been escaped before.
#pragma once

#include <string>
#include <string_view>

namespace assay::internal {

// One line of text.
std::string printable(std::string_view text);
// The same, but '\n' and '\t' stay.
std::string printable_lines(std::string_view text);
// How the character of `length` bytes at the front of `text` is shown; empty if as it is. A
// `length` of 0 is a byte that belongs to none.
std::string shown_instead(std::string_view text, size_t length);

}  // namespace assay::internal
