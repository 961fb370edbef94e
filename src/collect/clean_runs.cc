// Whether a fault is gone is a question about how often it came. If each run shows it with the
// probability p, n runs miss it with the probability (1 - p)^n. All that is known of p is that k of
// N runs showed the fault:
//
//   3 of 40 runs before the fix     after it 142 runs without a violation say with 99 % confidence
//                                   that it is gone
//   1 of 40                         3,961 runs: one violation says little about how soon the next
//                                   one comes
//
// So (1 - p)^n is averaged over all p, by a beta distribution with the parameters k and N - k + 1:
// that of the lower bound of Clopper and Pearson, which assumes that the fault is rarer than it was
// seen. The mean is the product of (N - k + 1 + i) / (N + 1 + i) for i < n. It falls with each run;
// the number of runs that brings it down to 1 - confidence is enough.
//
// Cost: linear in the number of runs that are enough. Source: C. J. Clopper, E. S. Pearson,
// Biometrika 1934.
#include "collect/clean_runs.h"

namespace assay::internal::collect {

std::optional<uint64_t> enough_clean_runs(uint64_t violated, uint64_t runs, double confidence) {
  constexpr uint64_t kMostRuns = 1'000'000;
  if (violated == 0) return std::nullopt;
  double missed = 1;
  const auto clean = static_cast<double>(runs - violated + 1), all = static_cast<double>(runs + 1);
  for (uint64_t n = 0; n < kMostRuns; ++n) {
    if (missed <= 1 - confidence) return n;
    missed *= (clean + static_cast<double>(n)) / (all + static_cast<double>(n));
  }
  return std::nullopt;
}

}  // namespace assay::internal::collect
