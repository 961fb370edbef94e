// `generate --hard`: histories that are hard to decide for a known reason (oracle/hard_cases.h),
// for comparing checkers.
#pragma once

#include <cstdint>
#include <string>

#include "assay/history.h"
#include "assay/result.h"

namespace CLI {
class App;
}

namespace assay::internal::cli {

struct HardFlags {
  std::string kind;     // empty: none wanted
  std::string formula;  // file in DIMACS format; empty: random
  uint32_t size = 20;
  double density = 0;  // 0: the default of the kind
  void add(CLI::App& app);
};

Result<History> hard_history(const HardFlags& flags, uint64_t seed);

}  // namespace assay::internal::cli
