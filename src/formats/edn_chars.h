// Characters that mean something in EDN outside of strings; JSON's are among them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace assay::internal::formats {

enum CharClass : uint8_t {
  kBlank = 1,
  kOpen = 2,
  kClose = 4,
  kQuote = 8,
  kComment = 16,
  kEscape = 32
};

inline constexpr std::array<uint8_t, 256> kClassOf = [] {
  std::array<uint8_t, 256> of{};
  const auto put = [&](std::string_view chars, uint8_t is) {
    for (const char c : chars) of[static_cast<uint8_t>(c)] = is;
  };
  put(" \t\n\r,", kBlank);
  put("([{", kOpen);
  put(")]}", kClose);
  put("\"", kQuote);
  put(";", kComment);
  put("\\", kEscape);
  return of;
}();

inline bool is(char c, uint8_t classes) {
  return (kClassOf[static_cast<uint8_t>(c)] & classes) != 0;
}
inline bool is_blank(char c) { return is(c, kBlank); }

}  // namespace assay::internal::formats
