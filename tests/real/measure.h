// Driving a database and deciding what it gave, for the tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "assay/check.h"
#include "collect/run.h"
#include "server.h"

namespace assay::internal {

// The history of a run on disk. Goes with the last of its owners, but stays if the test has failed.
using Recording = std::shared_ptr<const std::string>;

struct Measured {
  Recording recording;
  collect::RunStats stats;
  History history;
  CheckResult result;

  Outcome outcome(LevelId level) const;
  // The name of what violates the level; none if nothing does. The verifier has agreed.
  Anomaly anomaly(LevelId level) const;
};

// Runs with `options` (the history goes to a temporary folder) and decides the levels.
Measured measure(collect::RunOptions options, std::vector<LevelId> levels);

// Eight sessions on few keys.
collect::RunOptions contended(std::vector<std::string> urls, std::string isolation,
                              std::string workload = "mini");

// Transactions in all that a run which must stay clean makes: ASSAY_REAL_TXNS, or else few.
uint64_t clean_txns();

}  // namespace assay::internal

// The URLs of a server, or the test is skipped.
#define ASSAY_SERVER(urls, name)                                       \
  const std::vector<std::string> urls = assay::internal::server(name); \
  if (urls.empty()) GTEST_SKIP() << "no server '" << (name) << "' here"
