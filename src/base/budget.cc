#include "assay/budget.h"

#include <csignal>

#include "base/memory.h"

namespace assay {
namespace {
constexpr int kCallsBetweenMeasurements = 1024;
volatile std::sig_atomic_t was_interrupted = 0;
}  // namespace

void Budget::interrupt() { was_interrupted = 1; }
bool Budget::interrupted() { return was_interrupted != 0; }

Budget::Budget(double seconds, uint64_t memory_bytes)
    : limited_(seconds > 0 || memory_bytes > 0), seconds_(seconds), memory_bytes_(memory_bytes) {}

bool Budget::measure() {
  countdown_ = kCallsBetweenMeasurements;
  const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
  if (heeds_interrupts_ && interrupted()) {
    reason_ = "interrupted";
    cause_ = Cause::interrupt;
  } else if (seconds_ > 0 && elapsed >= seconds_) {
    std::string limit = std::to_string(seconds_);
    limit.erase(limit.find_last_not_of('0') + 1);
    if (limit.ends_with('.')) limit.pop_back();
    reason_ = "the time limit of " + limit + " s was reached";
    cause_ = Cause::time;
  } else if (memory_bytes_ > 0 && resident_memory_bytes() > memory_bytes_) {
    reason_ = "the memory limit of " + std::to_string(memory_bytes_ >> 20) + " MiB was reached";
    cause_ = Cause::memory;
  }
  exhausted_ = cause_ != Cause::none;
  return exhausted_;
}

}  // namespace assay
