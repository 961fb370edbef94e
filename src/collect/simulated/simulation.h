// A discrete-event simulation: sessions run a workload against the engine, one event at a time on a
// simulated clock; their transactions overlap, and the outcome depends on the seed alone.
//
// A request reaches the engine at one moment between being sent and being answered; these moments
// are the events. Sessions that conflict think longer before their next transaction, like clients
// that back off; this keeps conflicts at a few per cent however contended the keys are.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <vector>

#include "assay/result.h"
#include "base/rng.h"
#include "collect/generate.h"
#include "collect/simulated/clock.h"
#include "collect/simulated/commit_log.h"
#include "collect/simulated/engine.h"
#include "collect/simulated/script.h"

namespace assay::internal::collect {

class Simulation {
 public:
  Simulation(const GenerateOptions& options, const Workload& workload, Sink& sink);
  Result<GenerateStats> run();

 private:
  enum class Phase : uint8_t { begin, operation, commit };
  struct Client {
    std::unique_ptr<WorkloadSession> workload;
    TxnRecord record;
    Phase phase = Phase::begin;
    bool retry = false;
    Request next;  // the operation on its way
    uint64_t committed = 0;
  };
  struct Event {
    int64_t at;
    uint32_t session;
    bool operator>(const Event& other) const {
      return at != other.at ? at > other.at : session > other.session;
    }
  };

  Status handle(const Event& event);
  void begin(const Event& event);
  void operate(const Event& event);
  Status commit(const Event& event);
  bool commit_in_engine(uint32_t session);
  Status finish(uint32_t session, TxnStatus status);
  void send(uint32_t session, int64_t earliest);
  void start_next(uint32_t session, int64_t earliest);
  bool plant_due() const;
  bool plants() const { return options_.bug != Anomaly::none || options_.log_bug != LogBug::none; }
  Status plant();
  std::vector<Request> fresh_reads() const;
  Status plant_bug(std::vector<Request> reads);
  Status plant_log_bug(const std::vector<Request>& reads);
  void log(const TxnRecord& record) {
    if (options_.version_order) log_.add(record);
  }
  // Plays a script; `finished` gets each record at its end.
  Status play(const Script& script, const std::vector<Request>& reads,
              const std::function<Status(TxnRecord&)>& finished);
  Status write_planted(TxnRecord& record);

  const GenerateOptions& options_;
  const Workload& workload_;
  Sink& sink_;
  Rng rng_;
  Engine engine_;
  SimulatedClock clock_;
  std::vector<Client> clients_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<uint32_t> parked_;  // sessions that wait until the bug is planted
  int64_t now_ = 0;
  double think_;          // mean time between transactions
  uint32_t running_ = 0;  // number of sessions with an event to come
  uint32_t planted_ = 0;
  WrittenValues planted_values_;
  CommitLog log_;
  GenerateStats stats_;
};

}  // namespace assay::internal::collect
