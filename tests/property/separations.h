// For every two levels of which the first does not imply the second: the smallest history that
// satisfies the first and violates the second. Smallest is: of fewest operations, then of fewest
// transactions, then without stated orders and times if it can be.
//
// That such a history exists shows that there is no arrow. That none is found shows nothing.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/level.h"
#include "oracle/draft.h"
#include "oracle/enumerate.h"

namespace assay::internal {

class Separations {
 public:
  // Tries every history within the bounds, at these levels. A pair keeps the history that it has
  // unless this one is smaller.
  void search(const oracle::Bounds& bounds, const std::vector<LevelInfo>& levels);

  // Null if none has been found.
  const Draft* smallest(LevelId satisfied, LevelId violated) const;

 private:
  struct Found {
    Draft draft;
    std::pair<size_t, size_t> size;  // operations, transactions
  };
  std::array<std::array<std::optional<Found>, kLevelCount>, kLevelCount> found_;
};

// By searches that are large enough for each pair that reads and writes of keys can separate.
Separations all_separations();

// Empty if reads and writes can separate the two. Otherwise why not.
std::string inseparable(LevelId satisfied, LevelId violated);

// The section of the page of the level, heading and all.
std::string separations_section(const Separations& all, LevelId level);

// File names and contents of tests/separations.
std::vector<std::pair<std::string, std::string>> separation_files(const Separations& all);

}  // namespace assay::internal
