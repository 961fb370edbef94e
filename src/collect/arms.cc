#include "collect/arms.h"

#include <algorithm>

namespace assay::internal::collect {
namespace {

constexpr double kShape = 0.5;
// The shares of an arm's time that count for another arm of the same workload, or of the same kinds
// of operation.
constexpr double kShareOfWorkload = 0.75, kShareOfKinds = 0.25;
constexpr uint64_t kTurnsPerNeglected = 8;
// Contention says which of two arms is better, not that one of them is useless.
constexpr double kLeastFactor = 0.5, kMostFactor = 2;
// An arm that has not run counts as having run for this many seconds at the mean of all arms.
constexpr double kSecondsAtMean = 0.5;

}  // namespace

Arms::Arms(const std::vector<Arm>& arms) {
  for (const Arm& arm : arms) add(arm);
}

double Arms::fruitless_seconds(size_t arm) const {
  const Arm& own = arms_[arm].arm;
  double seconds = 0;
  for (size_t i = 0; i < arms_.size(); ++i) {
    const Known& other = arms_[i];
    if (i == arm)
      seconds += other.seconds;
    else if (other.arm.workload == own.workload)
      seconds += kShareOfWorkload * other.seconds;
    else if (other.arm.kinds == own.kinds)
      seconds += kShareOfKinds * other.seconds;
  }
  return seconds;
}

double Arms::contention_factor(const Known& known) const {
  if (!(contended_ > 0)) return 1;
  const double mean = contended_ / seconds_;
  const double own = (known.contended + kSecondsAtMean * mean) / (known.seconds + kSecondsAtMean);
  return std::clamp(own / mean, kLeastFactor, kMostFactor);
}

double Arms::expected_rate(size_t arm) const {
  const Known& known = arms_[arm];
  return contention_factor(known) * kShape / (kShape / known.arm.rate + fruitless_seconds(arm));
}

size_t Arms::next(uint64_t turn) const {
  const bool neglected = turn % kTurnsPerNeglected == kTurnsPerNeglected - 1;
  const auto worth = [&](size_t arm) {
    return neglected ? -arms_[arm].seconds : expected_rate(arm);
  };
  size_t best = 0;
  for (size_t arm = 1; arm < arms_.size(); ++arm)
    if (worth(arm) > worth(best)) best = arm;
  return best;
}

void Arms::note(size_t arm, const ArmRun& run) {
  arms_[arm].seconds += run.seconds;
  arms_[arm].contended += static_cast<double>(run.contended);
  seconds_ += run.seconds;
  contended_ += static_cast<double>(run.contended);
}

}  // namespace assay::internal::collect
