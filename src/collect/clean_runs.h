// How many runs without a violation show that a fault is gone.
#pragma once

#include <cstdint>
#include <optional>

namespace assay::internal::collect {

// After `violated` of `runs` runs showed the fault: the number of clean runs that show with this
// confidence, between 0 and 1, that it is gone. nullopt if none showed it, or if more than a
// million would be needed.
std::optional<uint64_t> enough_clean_runs(uint64_t violated, uint64_t runs, double confidence);

}  // namespace assay::internal::collect
