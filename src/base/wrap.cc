#include "base/wrap.h"

#include <algorithm>

namespace assay::internal {

size_t columns_of(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string wrapped(std::string_view text, size_t width, size_t used, size_t indent) {
  std::string out;
  size_t at = used;
  for (bool first = true; !text.empty(); first = false) {
    const size_t end = std::min(text.find(' ', 1), text.size());
    std::string_view word = text.substr(0, end);  // including the blank before it
    if (!first && at + columns_of(word) > width) {
      word.remove_prefix(word.starts_with(' '));
      out += "\n" + std::string(indent, ' ');
      at = indent;
    }
    out += word;
    at += columns_of(word);
    text.remove_prefix(end);
  }
  return out;
}

}  // namespace assay::internal
