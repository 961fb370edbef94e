// What the sentences of an explanation state, checked against the history by reading the text
// alone: nothing here knows how the sentences were made.
#pragma once

#include <string>
#include <vector>

#include "assay/history.h"

namespace assay::internal {

struct StatementCheck {
  size_t statements = 0;           // understood and found true
  std::vector<std::string> wrong;  // each with its text: false, circular, or not understood
};

// `sentences` follow each other: "it" is who the last sentence that begins with a transaction is
// about. The names of the history must be of the form "1-2", its keys of letters and digits, its
// values integers.
void check_statements(const History& history, const std::vector<std::string>& sentences,
                      StatementCheck& check);

}  // namespace assay::internal
