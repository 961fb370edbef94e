// Scenarios of a few transactions in an exact interleaving, played on a real database, each made to
// bring one anomaly about where the isolation allows it. The scenarios are those of Hermitage
// (Kleppmann, 2014), the read-only anomaly of Fekete et al. (2004), a long fork, and a stale read.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "assay/anomaly.h"
#include "assay/level.h"
#include "assay/result.h"
#include "collect/interleaving.h"

namespace assay::internal::collect {

// Notation as in the literature: b1 begins transaction 1, r1x reads x, w1x writes it, c1 commits,
// a1 gives up. Before the first step x and y have been written once. s1a is the first of the
// statements of SQL. Transaction i runs at endpoint i - 1 modulo their number.
struct Scenario {
  std::string_view name;  // Hermitage's, where it has one
  Anomaly anomaly;
  // The weakest of our levels that the history violates exactly if the anomaly occurred.
  LevelId level;
  std::string_view script;
  std::string_view summary;
  std::string_view sql = {};  // its statements, if its operations are such
};

std::span<const Scenario> all_scenarios();

// Whether the database can play it: not all are driven with SQL, nor tell enough of each statement.
// An error if it cannot be reached.
Result<bool> is_played(const Scenario& scenario, const PlayOptions& options);

// An error if x and y cannot even be written. A step that does not answer is left waiting while the
// script goes on with the other transactions.
Result<Played> play(const Scenario& scenario, const PlayOptions& options);

}  // namespace assay::internal::collect
