#include "base/utf8.h"

namespace assay::internal {

size_t utf8_length(std::string_view text) {
  auto byte = [&](size_t i) -> uint32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  auto tail = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  uint32_t b = byte(0);
  if (text.empty()) return 0;
  if (b < 0x80) return 1;
  if (b >= 0xC2 && b < 0xE0) return tail(1) ? 2 : 0;
  if (b >= 0xE0 && b < 0xF0) {
    if (!tail(1) || !tail(2)) return 0;
    uint32_t code = (b & 0x0F) << 12 | (byte(1) & 0x3F) << 6;
    return code < 0x800 || (code >= 0xD800 && code < 0xE000) ? 0 : 3;
  }
  if (b >= 0xF0 && b < 0xF5) {
    if (!tail(1) || !tail(2) || !tail(3)) return 0;
    uint32_t code = (b & 0x07) << 18 | (byte(1) & 0x3F) << 12;
    return code < 0x10000 || code > 0x10FFFF ? 0 : 4;
  }
  return 0;
}

uint32_t utf8_code(std::string_view text, size_t length) {
  constexpr uint32_t kOfFirst[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
  uint32_t code = static_cast<unsigned char>(text[0]) & kOfFirst[length];
  for (size_t i = 1; i < length; ++i)
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3F);
  return code;
}

void append_utf8(std::string& to, uint32_t code) {
  auto put = [&](uint32_t b) { to.push_back(static_cast<char>(b)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

}  // namespace assay::internal
