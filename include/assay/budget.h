// Limits on a computation. Long loops ask `exhausted()`; the answer to a question whose budget ran
// out is `unknown`, never a guess.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

// Why a question stays open.
//   time, memory, effort  a limit was reached
//   interrupted           by a signal
//   not_applicable        the level is not defined for such transactions
//   lacks_times           the level is about real time, and the history does not say when its
//                         transactions ran
//   lacks_order           the level is about versions whose order the history does not state
//   ambiguous             several states of the database explain what was read, and the search
//                         ended without an answer
//   evidence              what the history states about its own order is contradicted; without it
//                         the level holds
//   vacuous               nothing was observed that could contradict the level
//   uncontended           no transactions that overlapped could have contradicted the level, and
//                         the caller asked for such
//   unsupported           the history has something that this program has no definition for
//   internal              a bug in this program
enum class UnknownCause : uint8_t {
  time,
  memory,
  effort,
  interrupted,
  not_applicable,
  lacks_times,
  lacks_order,
  ambiguous,
  aggregate,
  evidence,
  vacuous,
  uncontended,
  unsupported,
  internal,
};
// "not-applicable", as in JSON and JUnit.
std::string_view unknown_cause_name(UnknownCause cause);

struct Unknown {
  UnknownCause cause = UnknownCause::internal;
  std::string detail;  // a sentence without its full stop, "the time limit of 60 s was reached"

  bool empty() const { return detail.empty(); }
  bool operator==(const Unknown&) const = default;
};

// An amount of time and effort, unlimited by default.
struct Allowance {
  double seconds = std::numeric_limits<double>::infinity();
  uint64_t effort = std::numeric_limits<uint64_t>::max();

  Allowance operator/(uint64_t shares) const;
};

// Wall-clock seconds from construction, bytes of resident memory of the process, and effort: how
// often long loops called `exhausted()`, which they do once for each transaction, edge or decision
// they examine. Effort is the same in every run and on every machine. Calls are cheap: the clock is
// read at most every few thousand calls, memory less often. Threads of one check may share a Budget
// only through copies.
class Budget {
 public:
  // No limits.
  Budget() = default;
  // A value of 0 means no limit for that resource.
  Budget(double seconds, uint64_t memory_bytes, uint64_t effort = 0);

  // From now on interrupt() exhausts this budget and its copies; it has no effect on other budgets.
  void stop_on_interrupt() { limited_ = stops_on_interrupt_ = true; }
  // A budget with the same limits that allows at most `part` from now on.
  Budget within(const Allowance& part) const;
  // A budget with the memory limit alone.
  Budget memory_only() const { return Budget(0, memory_bytes_); }
  // The remaining time and effort.
  Allowance left() const;

  // The effort so far; adds effort that a copy spent.
  uint64_t spent() const { return spent_ + static_cast<uint64_t>(round_ - countdown_); }
  void spend(uint64_t effort) {
    spent_ = spent() + effort;
    countdown_ = round_ = 0;  // the next call measures
  }

  // Interrupts for the rest of the process. May be called in a signal handler.
  static void interrupt();
  static bool interrupted();

  // True once a limit has been passed; stays true.
  bool exhausted() {
    if (exhausted_) return true;
    if (!limited_ || --countdown_ > 0) return false;
    return measure(0, ++rounds_ % kRoundsBetweenLooksAtMemory == 0);
  }
  // The same, but measures now and does not count as effort. For use between stages.
  bool exhausted_now() { return exhausted_ || (limited_ && measure()); }
  // Whether the memory limit allows `bytes` more; if not, the budget is exhausted. To be called
  // before a large allocation.
  bool has_room(uint64_t bytes) { return !exhausted_ && (!limited_ || !measure(bytes)); }
  // Returns what ran out, and the same in words. nullopt and an empty text while nothing has.
  std::optional<UnknownCause> cause() const;
  const Unknown& reason() const { return reason_; }

 private:
  // Asking the system for the memory of the process takes longer than reading the clock.
  static constexpr int kRoundsBetweenLooksAtMemory = 8;
  static constexpr uint64_t kNoEffortLimit = std::numeric_limits<uint64_t>::max();

  bool measure(uint64_t more_bytes = 0, bool memory_too = true);
  void exhaust(UnknownCause cause, std::string detail);
  double elapsed() const;

  using Clock = std::chrono::steady_clock;
  bool limited_ = false;
  bool stops_on_interrupt_ = false;
  bool exhausted_ = false;
  int countdown_ = 0;  // calls until the next measurement
  int round_ = 0;      // what countdown_ was set to after the last measurement
  int rounds_ = 0;     // measurements happen after this many calls
  double seconds_ = 0;
  uint64_t memory_bytes_ = 0;
  uint64_t effort_ = kNoEffortLimit;
  uint64_t spent_ = 0;  // effort until the last measurement
  Clock::time_point start_ = Clock::now();
  Unknown reason_;
};

}  // namespace assay
