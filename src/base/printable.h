// What may be shown to people. Files come from strangers, and a name in one of them can repaint a
// terminal (U+001B, U+009B), reverse the text next to it (U+202E), be invisible (U+200B) or end a
// line (U+2028). Such characters are shown as escapes: "\x1b", "\u202e". These are escapes in JSON,
// too, provided that ASCII control characters have been escaped before.
#pragma once

#include <string>
#include <string_view>

namespace assay::internal {

// The text as one printable line.
std::string printable(std::string_view text);
// The same, but '\n' and '\t' are kept.
std::string printable_lines(std::string_view text);
// How the character of `length` bytes at the beginning of `text` is shown; empty if unchanged. A
// `length` of 0 means a byte that belongs to no character.
std::string shown_instead(std::string_view text, size_t length);

}  // namespace assay::internal
