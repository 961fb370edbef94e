// What SIGINT, SIGTERM and SIGHUP do while a database is driven or a history is checked. The first
// one ends the work and delivers the results so far; the next one, unless it follows at once, ends
// the process. A signal that was ignored when the process started remains ignored.
#pragma once

#include <atomic>

namespace assay::internal::cli {

// From here on the first signal sets the flag that is returned: no more transactions are sent.
const std::atomic<bool>& stop_driving_when_interrupted();
// Has the same effect as such a signal.
void stop_driving_now();
// From here on the first signal exhausts every budget on which stop_on_interrupt() was called.
void stop_checking_when_interrupted();

}  // namespace assay::internal::cli
