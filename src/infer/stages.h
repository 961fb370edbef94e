// Where the time of a check goes, for --stats.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/memory.h"

namespace assay::internal {

// A stage and its total so far, over all times that it was entered.
struct Stage {
  std::string name;
  double seconds = 0;
  uint64_t peak_memory_bytes = 0;
};

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
    for (const Stage& stage : other.stages_) add(stage);
    for (const auto& [name, amount] : other.counters_) count(name, amount);
  }

  std::span<const Stage> all() const { return stages_; }
  std::vector<std::pair<std::string, uint64_t>> take_counters() { return std::move(counters_); }

 private:
  void add(std::string_view stage, std::chrono::steady_clock::duration elapsed) {
    add({std::string(stage), std::chrono::duration<double>(elapsed).count(),
         peak_resident_memory_bytes()});
  }
  void add(const Stage& more) {
    for (Stage& stage : stages_) {
      if (stage.name != more.name) continue;
      stage.seconds += more.seconds;
      stage.peak_memory_bytes = std::max(stage.peak_memory_bytes, more.peak_memory_bytes);
      return;
    }
    stages_.push_back(more);
  }

  std::vector<Stage> stages_;
  std::vector<std::pair<std::string, uint64_t>> counters_;
};

}  // namespace assay::internal
