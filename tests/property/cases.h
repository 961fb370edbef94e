// How many random cases a test tries, and from which seed; the environment may ask for more, fewer
// and others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace assay::internal {

// ASSAY_TEST_SCALE multiplies the number; it does not go below `least`.
inline uint64_t scaled(uint64_t usual, uint64_t least = 1) {
  const char* scale = std::getenv("ASSAY_TEST_SCALE");
  const double factor = scale == nullptr ? 1 : std::atof(scale);
  return std::max(least, static_cast<uint64_t>(static_cast<double>(usual) * factor));
}

// ASSAY_HISTORIES sets the number, for a run of many.
inline uint64_t histories(uint64_t usual, uint64_t least = 300) {
  const char* wanted = std::getenv("ASSAY_HISTORIES");
  return wanted == nullptr ? scaled(usual, std::min(usual, least))
                           : std::strtoull(wanted, nullptr, 10);
}

// A seed is fixed, and ASSAY_TEST_SEED rotates it: what a test finds from another one becomes a
// case of its own.
inline uint64_t rotated(uint64_t seed) {
  const char* rotation = std::getenv("ASSAY_TEST_SEED");
  return rotation == nullptr ? seed : seed + 1'000'003 * std::strtoull(rotation, nullptr, 10);
}

}  // namespace assay::internal
