// Makes one history of several that were recorded side by side.
#pragma once

#include <span>

#include "assay/history.h"

namespace assay::internal {

struct HistoryPart {
  const History* history;
  std::string_view name;  // for messages
};

// The transactions of the parts, one part after the other. A session must not occur in two parts,
// as nothing says in which order it ran their transactions; all parts must agree on the initial
// values.
Result<History> merge_histories(std::span<const HistoryPart> parts);

}  // namespace assay::internal
