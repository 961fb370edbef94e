#include "assay/budget.h"

#include "base/memory.h"

namespace assay {
namespace {
constexpr int kCallsBetweenMeasurements = 1024;
}

Budget::Budget(double seconds, uint64_t memory_bytes)
    : limited_(seconds > 0 || memory_bytes > 0), seconds_(seconds), memory_bytes_(memory_bytes) {}

bool Budget::measure() {
  countdown_ = kCallsBetweenMeasurements;
  const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
  if (seconds_ > 0 && elapsed >= seconds_) {
    std::string limit = std::to_string(seconds_);
    limit.erase(limit.find_last_not_of('0') + 1);
    if (limit.ends_with('.')) limit.pop_back();
    reason_ = "the time limit of " + limit + " s was reached";
    exhausted_ = true;
  } else if (memory_bytes_ > 0 && resident_memory_bytes() > memory_bytes_) {
    reason_ = "the memory limit of " + std::to_string(memory_bytes_ >> 20) + " MiB was reached";
    exhausted_ = true;
  }
  return exhausted_;
}

}  // namespace assay
