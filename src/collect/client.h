// One session of a run: takes transactions from the workload, hands them to the driver, and records
// every attempt with its times and its honest outcome.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "assay/result.h"
#include "base/rng.h"
#include "collect/driver.h"
#include "collect/sink.h"
#include "collect/workload.h"

namespace assay::collect {

// Nanoseconds since the start of the run, on a clock that never runs backwards.
class RunClock {
 public:
  int64_t now() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Steady::now() - start_).count();
  }
  double seconds() const { return static_cast<double>(now()) / 1e9; }

 private:
  using Steady = std::chrono::steady_clock;
  Steady::time_point start_ = Steady::now();
};

class Client {
 public:
  Client(uint32_t session, Driver& driver, std::unique_ptr<WorkloadSession> workload, Sink& sink,
         const RunClock& clock, uint64_t seed);

  // Connects; call once before the first attempt.
  Status connect();

  // One attempt at the workload's next transaction, or at the last one again if that was aborted.
  Result<TxnStatus> attempt();
  // Reads these in one transaction, trying again a few times when it is aborted.
  Status read_all(const std::vector<Request>& reads);
  // Sleeps for a random time that grows with the aborts in a row.
  void back_off();

  uint64_t operations() const { return operations_; }  // of committed transactions
  // What the database said when it did not commit, and how often.
  const std::map<std::string, uint64_t>& failures() const { return failures_; }

 private:
  template <class Next>
  Result<TxnStatus> run(Next next);
  template <class Next>
  CallResult execute(Next& next);
  CallResult commit();
  Result<TxnStatus> settle(const CallResult& result, bool committing);
  Status record(TxnStatus status, bool pending = false);
  void note_failure(const std::string& message);

  uint32_t session_;
  Driver& driver_;
  std::unique_ptr<WorkloadSession> workload_;
  Sink& sink_;
  const RunClock& clock_;
  Rng rng_;
  std::unique_ptr<DriverSession> connection_;
  TxnRecord record_;
  bool retry_ = false;
  uint32_t aborts_in_a_row_ = 0;
  uint64_t operations_ = 0;
  std::map<std::string, uint64_t> failures_;
};

}  // namespace assay::collect
