#include "base/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/utf8.h"

namespace assay::internal {
namespace {

struct Range {
  uint32_t first, last;
};

// Characters without a width and characters that move others: the characters of Unicode's category
// Cf that a name does not need, its separators of lines and paragraphs, and fillers that show
// nothing. U+200C and U+200D are included, although some scripts need them for joining.
constexpr Range kInvisible[] = {
    {0x00, 0x1F},     {0x7F, 0x9F},       {0xAD, 0xAD},       {0x034F, 0x034F},   {0x061C, 0x061C},
    {0x115F, 0x1160}, {0x17B4, 0x17B5},   {0x180B, 0x180F},   {0x200B, 0x200F},   {0x2028, 0x202E},
    {0x2060, 0x206F}, {0x3164, 0x3164},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},   {0xFFF9, 0xFFFB},
    {0xFFFE, 0xFFFF}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE007F},
};

bool is_unseen(uint32_t code) {
  return std::any_of(std::begin(kInvisible), std::end(kInvisible),
                     [&](const Range& r) { return code >= r.first && code <= r.last; });
}

bool is_plain(char c) { return c >= 0x20 && c < 0x7F; }

std::string shown(std::string_view text, std::string_view kept) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = is_plain(text[0]) ? 1 : utf8_length(text);
    const size_t bytes = std::max<size_t>(1, length);
    const bool stays = is_plain(text[0]) || kept.find(text[0]) != std::string_view::npos;
    const std::string instead = stays ? std::string() : shown_instead(text, length);
    out += instead.empty() ? text.substr(0, bytes) : instead;
    text.remove_prefix(bytes);
  }
  return out;
}

}  // namespace

std::string shown_instead(std::string_view text, size_t length) {
  constexpr uint32_t kAbovePlane = 0x10000;
  if (length == 0) return fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
  const uint32_t code = utf8_code(text, length);
  if (!is_unseen(code)) return {};
  if (code < 0x20) return fmt::format("\\x{:02x}", code);
  if (code < kAbovePlane) return fmt::format("\\u{:04x}", code);
  return fmt::format("\\u{:04x}\\u{:04x}", 0xD7C0 + (code >> 10), 0xDC00 + (code & 0x3FF));
}

std::string printable(std::string_view text) { return shown(text, ""); }

std::string printable_lines(std::string_view text) { return shown(text, "\n\t"); }

}  // namespace assay::internal
