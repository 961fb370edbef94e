// Injects the faults of a schedule into a running database and heals them; each is written into the
// history as it happens.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "assay/result.h"
#include "collect/client.h"
#include "collect/faults/proxy.h"
#include "collect/faults/schedule.h"
#include "collect/sink.h"

namespace assay::internal::collect {

struct FaultOptions {
  std::vector<FaultKind> kinds;
  // Mean seconds between faults; each lasts about half of it.
  double interval = 5;
  // Acts on node N, from 1, when " kill N", " start N", " pause N" or " resume N" is appended.
  std::string node_command;
};

class FaultInjector {
 public:
  // The proxies, one per endpoint, are needed only for partition and delay.
  FaultInjector(const FaultOptions& options, uint32_t nodes, uint64_t seed,
                std::vector<std::unique_ptr<Proxy>> proxies);
  ~FaultInjector();
  FaultInjector(const FaultInjector&) = delete;
  FaultInjector& operator=(const FaultInjector&) = delete;

  void start(Sink& sink, const RunClock& clock);
  // Heals the fault and injects no more. Returns the first error, if there was one.
  Status stop();

 private:
  void run();
  bool wait_until(double seconds);
  void act(const Fault& fault, bool begins);
  Status command(const char* action, uint32_t node);

  FaultOptions options_;
  FaultSchedule schedule_;
  std::vector<std::unique_ptr<Proxy>> proxies_;
  Sink* sink_ = nullptr;
  const RunClock* clock_ = nullptr;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  Status status_ = Ok{};
  std::thread thread_;
};

}  // namespace assay::internal::collect
