// Goes through many numbered things on several threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include "assay/budget.h"
#include "base/parallel.h"

namespace assay::internal {

// The number of threads that a walk over this many transactions is worth; 0 asks for one per core.
inline unsigned threads_for(size_t transactions, unsigned asked) {
  constexpr size_t kFew = 1000;  // so few items are done before a thread has started
  constexpr unsigned kMost = 8;
  if (transactions < kFew) return 1;
  return std::min(asked == 0 ? core_count() : asked, kMost);
}

// The number of slices for this many threads: enough that no thread waits long for the last one.
inline size_t slice_count(unsigned threads) { return threads <= 1 ? 1 : 16 * size_t{threads}; }

// Cuts 0 … count-1 into slice_count(threads) adjacent slices and goes through them in parallel,
// while the budget lasts: each thread calls start() to make work(slice, i), which is called for
// each i of a slice, ascending. The effort is the same for every number of threads.
template <class Start>
void in_slices(unsigned threads, size_t count, Budget& budget, Start start) {
  const size_t slices = slice_count(threads);
  const auto begin = [&](size_t slice) { return static_cast<uint32_t>(count * slice / slices); };
  std::mutex mutex;  // guards what follows
  uint64_t effort = 0;
  std::optional<Budget> exhausted;
  share_jobs(slices, threads, [&](const auto& next) {
    auto work = start();
    for (size_t slice = next(); slice < slices; slice = next()) {
      Budget own = budget;
      for (uint32_t i = begin(slice); i < begin(slice + 1) && !own.exhausted(); ++i) work(slice, i);
      const std::lock_guard lock(mutex);
      effort += own.spent() - budget.spent();
      if (own.exhausted()) exhausted = own;
    }
  });
  const uint64_t before = budget.spent();
  if (exhausted) budget = *exhausted;
  budget.spend(effort - (budget.spent() - before));
}

}  // namespace assay::internal
