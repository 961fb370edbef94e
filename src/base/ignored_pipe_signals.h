// While such an object exists, writing to a pipe or socket whose reader has ended is an error of
// the write, and does not end this process.
#pragma once

#include <csignal>

namespace assay::internal {

class IgnoredPipeSignals {
 public:
  IgnoredPipeSignals() : before_(signal(SIGPIPE, SIG_IGN)) {}
  ~IgnoredPipeSignals() { signal(SIGPIPE, before_); }
  IgnoredPipeSignals(const IgnoredPipeSignals&) = delete;
  IgnoredPipeSignals& operator=(const IgnoredPipeSignals&) = delete;

 private:
  void (*before_)(int);
};

}  // namespace assay::internal
