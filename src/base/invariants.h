// What a class keeps true between two calls, checked by builds with sanitizers and by no others:
//
//   if constexpr (kInvariantsChecked) check_invariants();
//
// A check looks at a whole structure after each step, so one that is large is left out: what breaks
// an invariant breaks it in small histories, too.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace assay::internal {

#ifdef ASSAY_INVARIANTS
inline constexpr bool kInvariantsChecked = true;
#else
inline constexpr bool kInvariantsChecked = false;
#endif

// Structures with more parts than this are not checked.
inline constexpr size_t kMostChecked = 400;

// Ends the program if `holds` is false. `invariant`: what should hold, and of what.
inline void check_invariant(bool holds, const char* invariant) {
  if (holds) return;
  std::fprintf(stderr, "assay: an invariant does not hold: %s\n", invariant);
  std::abort();
}

}  // namespace assay::internal
