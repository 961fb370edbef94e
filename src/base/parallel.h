// Independent jobs on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace assay::internal {

inline unsigned core_count() { return std::max(1u, std::thread::hardware_concurrency()); }

// Runs work(next) on up to `threads` threads, this one among them, and returns when all are done. next() hands out 0
// … jobs-1, each once, in ascending order, and then `jobs`.
template <class Work>
void share_jobs(size_t jobs, unsigned threads, Work work) {
  std::atomic<size_t> taken{0};
  const auto next = [&] { return std::min(taken.fetch_add(1), jobs); };
  std::vector<std::jthread> others;
  for (size_t i = 1; i < std::min<size_t>(threads, jobs); ++i) {
    others.emplace_back([&] { work(next); });
  }
  work(next);
}

}  // namespace assay::internal
