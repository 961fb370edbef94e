#include "collect/drivers/base64.h"

#include <cstdint>

namespace assay::internal::collect {
namespace {

constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string to_base64(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); i += 3) {
    uint32_t three = 0;
    for (size_t j = 0; j < 3; ++j)
      three = three << 8 | (i + j < text.size() ? static_cast<uint8_t>(text[i + j]) : 0);
    for (size_t j = 0; j < 4; ++j)
      out += i + j <= text.size() ? kDigits[three >> (18 - 6 * j) & 63] : '=';
  }
  return out;
}

std::string from_base64(std::string_view text) {
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const size_t digit = std::string_view(kDigits, 64).find(c);
    if (digit == std::string_view::npos) break;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> count & 0xFF);
  }
  return out;
}

}  // namespace assay::internal::collect
