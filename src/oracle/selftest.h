// Compares a checker with the oracle on random small histories, every level of each.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "assay/certificate.h"
#include "assay/history.h"
#include "assay/level.h"
#include "oracle/random_draft.h"

namespace assay::internal::oracle {

using Verdicts = std::array<Outcome, kLevelCount>;  // indexed by LevelId

// The checker under test.
using Checker = std::function<Verdicts(const History&)>;

struct SelftestOptions {
  uint64_t seed = 1;
  uint64_t count = 100'000;  // number of histories
  RandomShape shape = {};
  std::span<const LevelInfo> levels = default_levels();  // levels to compare
  // The checker may say unknown if the oracle decides, and may refute if the oracle cannot decide.
  bool may_abstain = false;
  std::function<void(double)> progress = {};  // called now and then with the completed share
};

struct SelftestResult {
  uint64_t histories = 0;
  std::array<std::array<uint64_t, 3>, kLevelCount> outcomes{};  // counts, by level and Outcome
  std::array<uint64_t, kLevelCount> abstained{};  // by level: verdicts that only the oracle gave
  // Empty if all is well. Otherwise the first error, and the smallest history found that shows it.
  std::string failure;
  bool ok() const { return failure.empty(); }
};

// Fails if the checker's answer differs from the oracle's, or if either breaks the lattice: a level
// is satisfied and one that it implies is violated. The same seed gives the same histories on every
// machine.
SelftestResult selftest(const Checker& checker, const SelftestOptions& options);

// Returns what the checker does wrong on this draft; empty if nothing.
std::string disagreement(const Checker& checker, const Draft& draft,
                         const SelftestOptions& options = {});

// Returns the first level that is satisfied although one that it implies is violated, as a
// sentence.
std::string broken_lattice(const Verdicts& verdicts);

}  // namespace assay::internal::oracle
