// Limits on a computation. Long loops ask `exhausted()`; the answer to a question whose budget ran
// out is `unknown`, never a guess.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace assay {

// Wall-clock seconds from construction and bytes of resident memory of the process. Cheap to ask:
// the clock is read at most every few thousand calls, memory less often still. One Budget may be
// shared by the threads of one check only through copies.
class Budget {
 public:
  // What ran out.
  enum class Cause : uint8_t { none, time, memory, interrupt };

  // No limits.
  Budget() = default;
  // A value of 0 means no limit for that resource.
  Budget(double seconds, uint64_t memory_bytes);

  // Exhausts this budget too, and its copies, when somebody calls interrupt(); others are not asked.
  void heed_interrupts() { limited_ = heeds_interrupts_ = true; }
  // The same limits, of which the time is up `seconds` from now at the latest.
  Budget within(double seconds) const;
  // Until the time is up; infinite without a limit.
  double seconds_left() const;

  // For the rest of the process. May be called in a signal handler.
  static void interrupt();
  static bool interrupted();

  // True once a limit has been passed; stays true.
  bool exhausted() {
    if (exhausted_) return true;
    if (!limited_ || --countdown_ > 0) return false;
    return measure();
  }
  // Same, but measures now. For the borders between stages.
  bool exhausted_now() { return exhausted_ || (limited_ && measure()); }
  // False, and exhausted, if `bytes` more would pass the memory limit. Before something large is
  // allocated.
  bool has_room(uint64_t bytes) { return !exhausted_ && (!limited_ || !measure(bytes)); }
  // "time limit of 60 s reached", for the reason of an `unknown`. Empty while not exhausted.
  const std::string& reason() const { return reason_; }
  // The same of what may run out.
  std::string reason_of(Cause cause) const;
  Cause cause() const { return cause_; }

 private:
  bool measure(uint64_t more_bytes = 0);
  double elapsed() const;

  using Clock = std::chrono::steady_clock;
  bool limited_ = false;
  bool heeds_interrupts_ = false;
  Cause cause_ = Cause::none;
  bool exhausted_ = false;
  int countdown_ = 0;
  double seconds_ = 0;
  uint64_t memory_bytes_ = 0;
  Clock::time_point start_ = Clock::now();
  std::string reason_;
};

}  // namespace assay
