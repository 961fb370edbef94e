// What SIGINT, SIGTERM and SIGHUP do while a database is driven or a history is checked. The first
// ends the work and delivers the results so far; the next one, unless it follows at once, ends the
// process. A signal that the process was started to ignore stays ignored.
#pragma once

#include <atomic>

namespace assay::internal::cli {

// From here on the first signal sets the flag returned: no more transactions are sent.
const std::atomic<bool>& stop_driving_when_interrupted();
// As such a signal does.
void stop_driving_now();
// From here on the first signal exhausts every budget on which stop_on_interrupt() was called.
void stop_checking_when_interrupted();

}  // namespace assay::internal::cli
