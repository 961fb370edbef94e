#include "report/markup.h"

#include <algorithm>

#include "base/printable.h"
#include "base/utf8.h"

namespace assay::internal {

std::string escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const char c = text[0];
    const size_t n = utf8_length(text);
    const bool kept = c == '\n' || c == '\t';
    if (const std::string instead = kept ? "" : shown_instead(text, n); !instead.empty()) {
      out += instead;
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c == '\'') {
      out += "&#39;";
    } else {
      out += text.substr(0, n);
    }
    text.remove_prefix(std::max<size_t>(1, n));
  }
  return out;
}

}  // namespace assay::internal
