// Makes a history of what a schedule's statements were seen to do.
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
  // How many statements read tables, how many changed some, and how many of each are in the history
  // with all that they read or wrote.
  uint64_t reads = 0, reads_observed = 0, writes = 0, writes_observed = 0;
  std::vector<std::string> missed;  // "s1.2: DISTINCT", for each that is not
};

// `database`: what the header says about it, as JSON.
Result<Assembled> assemble(const File& file, const Performance& played,
                           const std::string& database);

}  // namespace assay::internal::collect::schedule
