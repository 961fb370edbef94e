// One session of a run: takes transactions from the workload, hands them to the driver, and records
// every attempt with its times and its honest outcome.
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
  // Of the user's time, which passes whether or not sessions take turns.
  double seconds() const { return std::chrono::duration<double>(Steady::now() - start_).count(); }
  // The time of day at its start.
  std::chrono::system_clock::time_point time_of_day() const { return time_of_day_; }
  // Sessions take turns, and their time passes with these.
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

  // Distinguishes transactions for a log that is read afterwards, which must outlive the client.
  void look_inside(VersionLog* log) { log_ = log; }
  // Others go on between its calls, and while it backs off.
  void take_turns(Turns* turns) { turns_ = turns; }
  // Every transaction states that it asked for this level.
  void declare(LevelId level) { record_.level = level; }
  // Records when each operation was sent and answered.
  void time_operations() { times_operations_ = true; }
  // Connects; call once before the first attempt.
  Status connect();
  // Writes into the history by which number the server knows the connection, if it does.
  Status note_connection();

  // One attempt at the workload's next transaction, or at the last one again if that was aborted.
  Result<TxnStatus> attempt();
  // Does these in one transaction, trying again a few times when it is aborted. False if it always
  // was.
  Result<bool> do_all(const std::vector<Request>& requests);
  // Waits for a random time that grows with the aborts in a row.
  void back_off();

  uint64_t operations() const { return operations_; }  // of committed transactions
  // Spent in statements of more than a tenth of a second: nearly always waiting for others.
  double seconds_waited() const { return static_cast<double>(waited_) / 1e9; }
  // When and where the connection was lost, if it is: "session 3, transaction 3-17, …".
  struct Loss {
    int64_t at = 0;
    std::string where;
  };
  const std::optional<Loss>& loss() const { return loss_; }
  // The messages about transactions that did not commit, or perhaps did not, with their numbers.
  using Failures = std::map<std::pair<TxnStatus, std::string>, uint64_t>;
  const Failures& failures() const { return failures_; }

 private:
  template <class Next>
  Result<TxnStatus> run(Next next, bool ignores_replies);
  template <class Next>
  CallResult execute(Next& next);
  CallResult perform(const Request& request);
  std::string version() const;  // the name of what the statement under way writes
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
  Turns* turns_ = nullptr;  // none where sessions run at once
  Driver& driver_;
  std::unique_ptr<WorkloadSession> workload_;
  Sink& sink_;
  const RunClock& clock_;
  std::chrono::milliseconds reconnect_for_;
  Rng rng_;
  std::unique_ptr<DriverSession> connection_;
  TxnRecord record_;
  Reply reply_;                  // to the statement before, where that is the user's SQL
  const Reply* last_ = nullptr;  // to the request before
  uint64_t statements_ = 0;      // of the transaction
  bool retry_ = false;
  uint32_t aborts_in_a_row_ = 0;
  uint64_t operations_ = 0;
  bool times_operations_ = false;
  int64_t waited_ = 0;
  std::string last_request_;  // that got no answer
  std::optional<Loss> loss_;
  Failures failures_;
};

}  // namespace assay::internal::collect
