// Sentences as rows of a table: of which anomaly, when a row applies, and what it says.
//
//   {Anomaly::phantom, true, "{asked twice}\nIn between {writer} {did}."}
//
// The text is one sentence a line. A word in braces stands for what the teller makes of it, and
// only the words of the row that applies are made: others may ask for what is not there.
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
