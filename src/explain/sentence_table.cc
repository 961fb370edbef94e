#include "explain/sentence_table.h"

#include <algorithm>

namespace assay::internal {

std::vector<std::string> sentences_for(std::span<const SentenceRow> rows, Anomaly anomaly,
                                       const std::function<std::string(std::string_view)>& word) {
  const auto row = std::ranges::find_if(rows, [&](const SentenceRow& r) {
    return r.applies && (r.anomaly == anomaly || r.anomaly == Anomaly::none);
  });
  if (row == rows.end()) return {};
  std::vector<std::string> sentences(1);
  for (std::string_view text = row->text; !text.empty();) {
    const size_t plain = std::min(text.find_first_of("{\n"), text.size());
    sentences.back() += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    if (text[0] == '\n') {
      sentences.emplace_back();
      text.remove_prefix(1);
      continue;
    }
    const size_t end = text.find('}');
    sentences.back() += word(text.substr(1, end - 1));
    text.remove_prefix(end + 1);
  }
  return sentences;
}

}  // namespace assay::internal
