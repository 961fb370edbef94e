// Sentences as rows of a table: the anomaly of a row, its condition, and its text.
//
//   {Anomaly::phantom, true, "{asked twice}\nIn between {writer} {did}."}
//
// The text has one sentence per line. A word in braces is replaced by text that the caller makes,
// and only the words of the row that applies are made, as others may need data that does not exist.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/anomaly.h"

namespace assay::internal {

struct SentenceRow {
  Anomaly anomaly;  // none: any
  bool applies;
  std::string_view text;
};

// The sentences of the first row that applies.
std::vector<std::string> sentences_for(std::span<const SentenceRow> rows, Anomaly anomaly,
                                       const std::function<std::string(std::string_view)>& word);

}  // namespace assay::internal
