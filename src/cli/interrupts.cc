#include "cli/interrupts.h"

#include <signal.h>
#include <time.h>

#include "assay/budget.h"

namespace assay::internal::cli {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
// Signals that are no further apart than this are one request to end: timeout(1) sends each twice,
// to the process and to its group.
constexpr int64_t kOneRequest = 250'000'000;

std::atomic<bool> stop_driving{false};
std::atomic<bool> asked{false};                   // to end the present work
std::atomic<int64_t> last_request{-kOneRequest};  // nanoseconds of the monotonic clock
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int64_t>::is_always_lock_free,
              "set by a signal handler");

using Handler = void (*)(int);

void handle(Handler handler) {
  asked = false;
  for (const int number : kSignals)
    if (signal(number, handler) == SIG_IGN) signal(number, SIG_IGN);
}

// Whether the present work should end in order; a second request ends the process.
bool is_first_request(int number) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int64_t at = int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  if (at - last_request < kOneRequest) return false;
  last_request = at;
  if (!asked.exchange(true)) return true;
  signal(number, SIG_DFL);
  raise(number);
  return false;
}

extern "C" void on_interrupt_of_driving(int number) {
  if (is_first_request(number)) stop_driving.store(true);
}

extern "C" void on_interrupt_of_checking(int number) {
  if (is_first_request(number)) Budget::interrupt();
}

}  // namespace

const std::atomic<bool>& stop_driving_when_interrupted() {
  handle(on_interrupt_of_driving);
  return stop_driving;
}

void stop_driving_now() { stop_driving.store(true); }

void stop_checking_when_interrupted() {
  if (!Budget::interrupted()) handle(on_interrupt_of_checking);
}

}  // namespace assay::internal::cli
