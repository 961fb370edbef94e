#include "assay/budget.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <utility>

#include "base/memory.h"

namespace assay {
namespace {
constexpr int kCallsBetweenMeasurements = 1024;
volatile std::sig_atomic_t was_interrupted = 0;

// Whether `more_bytes` pass the limit. Memory that was freed may still be resident; it counts only
// if it cannot be given back.
bool would_pass(uint64_t limit, uint64_t more_bytes) {
  if (internal::resident_memory_bytes() + more_bytes <= limit) return false;
  internal::release_free_memory();
  return internal::resident_memory_bytes() + more_bytes > limit;
}

// "60", "0.5"
std::string decimal(double number) {
  std::string text = std::to_string(number);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}
}  // namespace

std::string_view unknown_cause_name(UnknownCause cause) {
  switch (cause) {
    case UnknownCause::time:
      return "time";
    case UnknownCause::memory:
      return "memory";
    case UnknownCause::effort:
      return "effort";
    case UnknownCause::interrupted:
      return "interrupted";
    case UnknownCause::not_applicable:
      return "not-applicable";
    case UnknownCause::lacks_times:
      return "lacks-times";
    case UnknownCause::lacks_order:
      return "lacks-order";
    case UnknownCause::ambiguous:
      return "ambiguous";
    case UnknownCause::aggregate:
      return "aggregate";
    case UnknownCause::evidence:
      return "evidence";
    case UnknownCause::vacuous:
      return "vacuous";
    case UnknownCause::uncontended:
      return "uncontended";
    case UnknownCause::unsupported:
      return "unsupported";
    case UnknownCause::internal:
      return "internal";
  }
  return "";
}

Allowance Allowance::operator/(uint64_t shares) const {
  const bool limited = effort != Allowance().effort;
  return {seconds / static_cast<double>(shares), limited ? effort / shares : effort};
}

void Budget::interrupt() { was_interrupted = 1; }
bool Budget::interrupted() { return was_interrupted != 0; }

Budget::Budget(double seconds, uint64_t memory_bytes, uint64_t effort)
    : limited_(seconds > 0 || memory_bytes > 0 || effort > 0),
      seconds_(seconds),
      memory_bytes_(memory_bytes),
      effort_(effort > 0 ? effort : kNoEffortLimit) {}

Allowance Budget::left() const {
  Allowance left;
  if (seconds_ > 0) left.seconds = std::max(0.0, seconds_ - elapsed());
  if (effort_ != kNoEffortLimit) left.effort = effort_ - std::min(effort_, spent());
  return left;
}

Budget Budget::within(const Allowance& part) const {
  Budget smaller = *this;
  if (!std::isinf(part.seconds)) {
    const double until = elapsed() + part.seconds;
    if (seconds_ <= 0 || until < seconds_) smaller.seconds_ = until;
    smaller.limited_ = true;
  }
  if (part.effort < left().effort) {
    smaller.effort_ = spent() + part.effort;
    smaller.limited_ = true;
    smaller.spent_ = spent();
    smaller.countdown_ = smaller.round_ = 0;  // the next call measures
  }
  return smaller;
}

double Budget::elapsed() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

std::optional<UnknownCause> Budget::cause() const {
  if (!exhausted_) return std::nullopt;
  return reason_.cause;
}

void Budget::exhaust(UnknownCause cause, std::string detail) {
  exhausted_ = true;
  reason_ = {cause, std::move(detail)};
}

bool Budget::measure(uint64_t more_bytes, bool memory_too) {
  spent_ = spent();
  const uint64_t left = effort_ - std::min(effort_, spent_);
  countdown_ = round_ =
      static_cast<int>(std::clamp<uint64_t>(left, 1, uint64_t{kCallsBetweenMeasurements}));
  if (stops_on_interrupt_ && interrupted()) {
    exhaust(UnknownCause::interrupted, "interrupted");
  } else if (left == 0) {
    exhaust(UnknownCause::effort,
            "the effort limit of " + std::to_string(effort_) + " was reached");
  } else if (seconds_ > 0 && elapsed() >= seconds_) {
    exhaust(UnknownCause::time, "the time limit of " + decimal(seconds_) + " s was reached");
  } else if (memory_too && memory_bytes_ > 0 && would_pass(memory_bytes_, more_bytes)) {
    exhaust(UnknownCause::memory,
            "the memory limit of " + std::to_string(memory_bytes_ >> 20) + " MiB was reached");
  }
  return exhausted_;
}

}  // namespace assay
