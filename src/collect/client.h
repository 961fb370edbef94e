// One session of a run: takes transactions from the workload, hands them to the driver, and records
// every attempt with its times and its true outcome.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "assay/result.h"
#include "base/rng.h"
#include "collect/driver.h"
#include "collect/sink.h"
#include "collect/turns.h"
#include "collect/version_log.h"
#include "collect/workload.h"

namespace assay::internal::collect {

// Nanoseconds since the start of the run, on a clock that never runs backwards.
class RunClock {
 public:
  int64_t now() const {
    if (turns_ != nullptr) return turns_->now();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Steady::now() - start_).count();
  }
  // The seconds of the user's time, which passes whether or not sessions take turns.
  double seconds() const { return std::chrono::duration<double>(Steady::now() - start_).count(); }
  // The time of day at the start.
  std::chrono::system_clock::time_point time_of_day() const { return time_of_day_; }
  // Makes time pass with the turns that sessions take.
  void follow(Turns* turns) { turns_ = turns; }

 private:
  using Steady = std::chrono::steady_clock;
  Turns* turns_ = nullptr;
  Steady::time_point start_ = Steady::now();
  std::chrono::system_clock::time_point time_of_day_ = std::chrono::system_clock::now();
};

class Client {
 public:
  Client(uint32_t session, Driver& driver, std::unique_ptr<WorkloadSession> workload, Sink& sink,
         const RunClock& clock, uint64_t seed, std::chrono::milliseconds reconnect_for);

  // Makes transactions recognizable in a log that is read afterwards; the log must outlive the
  // client.
  void look_inside(VersionLog* log) { log_ = log; }
  // Lets others go on between its calls, and while it backs off.
  void take_turns(Turns* turns) { turns_ = turns; }
  // Makes every transaction state that it asked for this level.
  void declare(LevelId level) { record_.level = level; }
  // Makes the client record when each operation was sent and answered.
  void time_operations() { times_operations_ = true; }
  // Connects; to be called once before the first attempt.
  Status connect();
  // Writes the number by which the server knows the connection into the history, if there is one.
  Status note_connection();

  // Makes one attempt at the workload's next transaction, or at the last one again if that was
  // aborted.
  Result<TxnStatus> attempt();
  // Does these requests in one transaction, with a few more attempts when it is aborted. False if
  // it always was.
  Result<bool> do_all(const std::vector<Request>& requests);
  // Waits for a random time that grows with the number of aborts in a row.
  void back_off();

  uint64_t operations() const { return operations_; }  // of committed transactions
  // The seconds spent in statements of more than a tenth of a second: nearly always waiting for
  // others.
  double seconds_waited() const { return static_cast<double>(waited_) / 1e9; }
  // When and where the connection was lost, if it is: "session 3, transaction 3-17, …".
  struct Loss {
    int64_t at = 0;
    std::string where;
  };
  const std::optional<Loss>& loss() const { return loss_; }
  // The messages about transactions that did not commit, or perhaps did not, and how often each
  // came.
  using Failures = std::map<std::pair<TxnStatus, std::string>, uint64_t>;
  const Failures& failures() const { return failures_; }

 private:
  template <class Next>
  Result<TxnStatus> run(Next next, bool ignores_replies);
  template <class Next>
  CallResult execute(Next& next);
  CallResult perform(const Request& request);
  std::string version() const;  // the name of the version that the current statement writes
  CallResult call(Request& request);
  template <class Next>
  bool take_whole(Next& next, std::vector<Request>& requests);
  CallResult execute_whole(const std::vector<Request>& requests);
  CallResult commit();
  Result<TxnStatus> finish_txn(const CallResult& result, bool committing);
  Status record(TxnStatus status, bool pending = false);
  void note_failure(TxnStatus status, const std::string& message);
  void note_time(int64_t since);
  template <class Call>
  CallResult in_turn(Call call);
  std::string place(bool committing) const;

  void name_transaction();

  uint32_t session_;
  VersionLog* log_ = nullptr;
  Turns* turns_ = nullptr;  // null if sessions run at the same time
  Driver& driver_;
  std::unique_ptr<WorkloadSession> workload_;
  Sink& sink_;
  const RunClock& clock_;
  std::chrono::milliseconds reconnect_for_;
  Rng rng_;
  std::unique_ptr<DriverSession> connection_;
  TxnRecord record_;
  Reply reply_;                  // to the previous statement, if that is the user's SQL
  const Reply* last_ = nullptr;  // to the previous request
  uint64_t statements_ = 0;      // of the current transaction
  bool retry_ = false;
  uint32_t aborts_in_a_row_ = 0;
  uint64_t operations_ = 0;
  bool times_operations_ = false;
  int64_t waited_ = 0;
  std::string last_request_;  // the last request that got no answer
  std::optional<Loss> loss_;
  Failures failures_;
};

}  // namespace assay::internal::collect
