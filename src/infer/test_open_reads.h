// Problems whose open reads are to be decided, for tests.
#pragma once

#include <memory>

#include "infer/open_reads.h"
#include "infer/problem.h"

namespace assay::internal {

// A problem with everything that the history leaves open about its reads, at levels where a
// transaction sees one state of a key.
inline Problem problem_with_open_reads(const History& history) {
  Budget unlimited;
  const Problem plain = make_problem(history);
  const auto open = std::make_shared<OpenReads>(history, true);
  open->add(plain, unlimited);
  open->add_possible(plain, unlimited);
  Problem problem = make_problem(history, {}, unlimited, {.possible = open->possible()});
  problem.open = open;
  return problem;
}

}  // namespace assay::internal
