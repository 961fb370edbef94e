// Where the time of a check goes, for --stats.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/check.h"
#include "base/memory.h"

namespace assay::internal {

class Stages {
 public:
  // Adds the time until the returned object dies to `stage`.
  class Timer {
   public:
    Timer(Stages& stages, std::string_view stage) : stages_(stages), stage_(stage) {}
    ~Timer() { stages_.add(stage_, Clock::now() - start_); }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

   private:
    using Clock = std::chrono::steady_clock;
    friend class Stages;
    Stages& stages_;
    std::string_view stage_;
    Clock::time_point start_ = Clock::now();
  };

  Timer time(std::string_view stage) { return Timer(*this, stage); }
  void count(std::string_view counter, uint64_t amount) {
    for (auto& [name, total] : counters_) {
      if (name == counter) {
        total += amount;
        return;
      }
    }
    counters_.emplace_back(counter, amount);
  }

  // Adds what `other` has recorded.
  void take(const Stages& other) {
    for (const StageTime& t : other.times_) add(t);
    for (const auto& [name, amount] : other.counters_) count(name, amount);
  }

  std::vector<StageTime> take_times() { return std::move(times_); }
  std::vector<std::pair<std::string, uint64_t>> take_counters() { return std::move(counters_); }

 private:
  void add(std::string_view stage, std::chrono::steady_clock::duration elapsed) {
    add({std::string(stage), std::chrono::duration<double>(elapsed).count(),
         peak_resident_memory_bytes()});
  }
  void add(const StageTime& more) {
    for (StageTime& t : times_) {
      if (t.stage != more.stage) continue;
      t.seconds += more.seconds;
      t.peak_memory_bytes = std::max(t.peak_memory_bytes, more.peak_memory_bytes);
      return;
    }
    times_.push_back(more);
  }

  std::vector<StageTime> times_;
  std::vector<std::pair<std::string, uint64_t>> counters_;
};

}  // namespace assay::internal
