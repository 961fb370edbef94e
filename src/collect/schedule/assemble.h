// From what was seen of a schedule's statements to a history.
#pragma once

#include <string>
#include <vector>

#include "assay/history.h"
#include "assay/result.h"
#include "collect/schedule/file.h"
#include "collect/schedule/play.h"

namespace assay::internal::collect::schedule {

struct Assembled {
  History history;
  // Statements that read tables, that changed some, and how many of each are in the history with
  // all that they read or wrote.
  uint64_t reads = 0, reads_observed = 0, writes = 0, writes_observed = 0;
  std::vector<std::string> missed;  // "s1.2: DISTINCT", for each that is not
};

// `database`: what the header says of it, as JSON.
Result<Assembled> assemble(const File& file, const Performance& played,
                           const std::string& database);

}  // namespace assay::internal::collect::schedule
