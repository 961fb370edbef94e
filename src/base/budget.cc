#include "assay/budget.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <limits>

#include "base/memory.h"

namespace assay {
namespace {
constexpr int kCallsBetweenMeasurements = 1024;
volatile std::sig_atomic_t was_interrupted = 0;

// Memory that was freed may still be resident; it counts only if it cannot be given back.
bool would_pass(uint64_t limit, uint64_t more_bytes) {
  if (resident_memory_bytes() + more_bytes <= limit) return false;
  release_free_memory();
  return resident_memory_bytes() + more_bytes > limit;
}
}  // namespace

void Budget::interrupt() { was_interrupted = 1; }
bool Budget::interrupted() { return was_interrupted != 0; }

Budget::Budget(double seconds, uint64_t memory_bytes)
    : limited_(seconds > 0 || memory_bytes > 0), seconds_(seconds), memory_bytes_(memory_bytes) {}

double Budget::seconds_left() const {
  if (seconds_ == 0) return std::numeric_limits<double>::infinity();
  return std::max(0.0, seconds_ - elapsed());
}

Budget Budget::within(double seconds) const {
  Budget shorter = *this;
  if (std::isinf(seconds)) return shorter;
  const double until = elapsed() + seconds;
  if (seconds_ <= 0 || until < seconds_) shorter.seconds_ = until;
  shorter.limited_ = true;
  return shorter;
}

double Budget::elapsed() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

std::string Budget::reason_of(Cause cause) const {
  switch (cause) {
    case Cause::none:
      return "";
    case Cause::interrupt:
      return "interrupted";
    case Cause::memory:
      return "the memory limit of " + std::to_string(memory_bytes_ >> 20) + " MiB was reached";
    case Cause::time:
      break;
  }
  std::string limit = std::to_string(seconds_);
  limit.erase(limit.find_last_not_of('0') + 1);
  if (limit.ends_with('.')) limit.pop_back();
  return "the time limit of " + limit + " s was reached";
}

bool Budget::measure(uint64_t more_bytes) {
  countdown_ = kCallsBetweenMeasurements;
  if (heeds_interrupts_ && interrupted())
    cause_ = Cause::interrupt;
  else if (seconds_ > 0 && elapsed() >= seconds_)
    cause_ = Cause::time;
  else if (memory_bytes_ > 0 && would_pass(memory_bytes_, more_bytes))
    cause_ = Cause::memory;
  reason_ = reason_of(cause_);
  exhausted_ = cause_ != Cause::none;
  return exhausted_;
}

}  // namespace assay
