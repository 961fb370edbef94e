#include "cli/interrupts.h"

#include <signal.h>

#include "assay/budget.h"

namespace assay::cli {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM};

std::atomic<bool> stop_driving{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set by a signal handler");

using Handler = void (*)(int);

void handle(Handler handler) {
  for (const int number : kSignals)
    if (signal(number, handler) == SIG_IGN) signal(number, SIG_IGN);
}

extern "C" void on_interrupt_of_driving(int) {
  stop_driving.store(true);
  handle(SIG_DFL);
}

extern "C" void on_interrupt_of_checking(int) {
  Budget::interrupt();
  handle(SIG_DFL);
}

}  // namespace

const std::atomic<bool>& stop_driving_when_interrupted() {
  handle(on_interrupt_of_driving);
  return stop_driving;
}

void stop_checking_when_interrupted() {
  if (!Budget::interrupted()) handle(on_interrupt_of_checking);
}

}  // namespace assay::cli
