#include "collect/probe.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "collect/client.h"
#include "collect/driver.h"
#include "collect/run_id.h"
#include "collect/sink.h"
#include "collect/url.h"

namespace assay::internal::collect {
namespace {

constexpr uint32_t kTxns = 5;  // number 0 writes x and y before the script begins
constexpr auto kBlockedAfter = std::chrono::milliseconds(100);
constexpr auto kProbeConnectFor = std::chrono::seconds(3);

constexpr Scenario kScenarios[] = {
    {"G0", Anomaly::g0, LevelId::read_atomic, "b1 b2 w1x w2x w1y c1 w2y c2 b3 r3x r3y c3",
     "dirty write: the versions that stay are of different transactions"},
    {"G1a", Anomaly::aborted_read, LevelId::read_committed, "b1 b2 w1x r2x a1 r2x c2",
     "aborted read: what was read is undone"},
    {"G1b", Anomaly::intermediate_read, LevelId::read_committed, "b1 b2 w1x r2x w1x c1 r2x c2",
     "intermediate read: what was read is overwritten by its own writer"},
    {"G1c", Anomaly::g1c, LevelId::read_committed, "b1 b2 w1x w2y r1y r2x c1 c2",
     "circular information flow: each reads what the other wrote"},
    {"OTV", Anomaly::non_monotonic_read, LevelId::read_committed,
     "b1 b2 b3 w1x w1y w2x c1 r3x w2y r3y c2 r3x r3y c3",
     "observed transaction vanishes: seen once, then not any more"},
    {"non-repeatable", Anomaly::non_repeatable_read, LevelId::read_atomic,
     "b1 b2 r1x w2x c2 r1x c1", "two reads of one key differ"},
    {"G-single", Anomaly::fractured_read, LevelId::read_atomic,
     "b1 b2 r1x r2x r2y w2x w2y c2 r1y c1", "read skew: half of a transaction is seen"},
    {"P4", Anomaly::lost_update, LevelId::adya_si, "b1 b2 r1x r2x w1x w2x c1 c2",
     "lost update: both overwrite the version that both read"},
    {"long fork", Anomaly::long_fork, LevelId::prefix,
     "b1 b2 b3 b4 r3x r4y w1x w2y c1 c2 r3y r4x c3 c4",
     "two readers see two writes in different orders"},
    {"G2-item", Anomaly::write_skew, LevelId::serializable, "b1 b2 r1x r1y r2x r2y w1x w2y c1 c2",
     "write skew: each writes what the other read"},
    {"read-only", Anomaly::g2_item, LevelId::serializable,
     "b1 r1x r1y b2 r2y w2y c2 b3 r3x r3y c3 w1x c1",
     "write skew that only a reader makes visible"},
    {"stale read", Anomaly::real_time_violation, LevelId::strong_si, "b1 w1x c1 b2 r2x c2",
     "what was acknowledged is not seen"},
};

struct Action {
  char what = 0;
  int64_t key = 0;
};

// One transaction, on a connection and a thread of its own.
class Actor {
 public:
  Actor(uint32_t number, std::unique_ptr<DriverSession> session, const RunClock& clock)
      : session_(std::move(session)), clock_(clock), next_value_(number + 1) {
    record_.session = number;
    thread_ = std::thread([this] { work(); });
  }
  ~Actor() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  void tell(Action action) {
    const std::lock_guard lock(mutex_);
    actions_.push_back(action);
    changed_.notify_all();
  }
  // True if everything it was given is done.
  bool wait(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, limit, [this] { return actions_.empty(); });
  }
  // After the last step.
  const TxnRecord& record() const { return record_; }
  bool began() const { return began_; }
  bool over() const { return over_; }
  const std::string& refusal() const { return refusal_; }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return stopping_ || !actions_.empty(); });
      if (actions_.empty()) return;
      const Action action = actions_.front();
      lock.unlock();
      if (!over_) act(action);
      lock.lock();
      actions_.pop_front();
      changed_.notify_all();
    }
  }

  void act(const Action& action) {
    const int64_t request = clock_.now();
    if (action.what == 'b') {
      began_ = true;
      const CallResult result = session_->begin();
      record_.begin = {request, clock_.now()};
      return settle(result, request, TxnStatus::aborted);
    }
    if (action.what == 'c') {
      const CallResult result = session_->commit();
      settle(result, request, TxnStatus::unknown);
      if (result.ok()) end(TxnStatus::committed, request);
      return;
    }
    if (action.what == 'a') {
      session_->abort();
      return end(TxnStatus::aborted, request);
    }
    Step& step = record_.steps.emplace_back();
    step.request = {.kind = action.what == 'r' ? OpKind::read : OpKind::write,
                    .key = Value::of(action.key)};
    if (action.what == 'w') step.request.value = Value::of(next_value_);
    next_value_ += kTxns;
    const CallResult result = session_->call(step.request, step.reply);
    // Some databases take the snapshot only now.
    if (record_.steps.size() == 1) record_.begin.response = clock_.now();
    if (!result.ok() && action.what == 'r') record_.steps.pop_back();
    settle(result, request, TxnStatus::aborted);
  }

  // What follows from a call that is not ok; `fatal` is what a fatal one leaves.
  void settle(const CallResult& result, int64_t request, TxnStatus fatal) {
    if (result.ok()) return;
    refusal_ = result.message;
    end(result.outcome == CallOutcome::aborted   ? TxnStatus::aborted
        : result.outcome == CallOutcome::unknown ? TxnStatus::unknown
                                                 : fatal,
        request);
  }

  void end(TxnStatus status, int64_t request) {
    if (over_) return;
    over_ = true;
    record_.status = status;
    // The first operation may have been the one that failed.
    if (status != TxnStatus::unknown)
      record_.end = {std::max(request, record_.begin.response), clock_.now()};
  }

  std::unique_ptr<DriverSession> session_;
  const RunClock& clock_;
  int64_t next_value_;
  TxnRecord record_;
  bool began_ = false;
  bool over_ = false;
  std::string refusal_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Action> actions_;  // the first is being done
  bool stopping_ = false;
  std::thread thread_;
};

Result<std::unique_ptr<DriverSession>> connect(Driver& driver) {
  const auto deadline = std::chrono::steady_clock::now() + kProbeConnectFor;
  while (true) {
    auto session = driver.connect();
    if (session.ok() || std::chrono::steady_clock::now() > deadline) return session;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

using Actors = std::array<std::unique_ptr<Actor>, kTxns>;

void follow(std::string_view script, Actors& actors, std::chrono::milliseconds patience) {
  for (size_t at = 0; at + 1 < script.size(); ++at) {
    if (script[at] == ' ') continue;
    const char what = script[at];
    Actor& actor = *actors[static_cast<size_t>(script[at + 1] - '0')];
    const bool keyed = what == 'r' || what == 'w';
    at += keyed ? 2 : 1;
    const bool free = actor.wait(std::chrono::milliseconds(0));
    actor.tell({what, keyed ? script[at] - 'x' : 0});
    if (free) actor.wait(patience);
  }
}

}  // namespace

std::span<const Scenario> all_scenarios() { return kScenarios; }

namespace {

Result<Played> play_it(const Scenario& scenario, const ProbeOptions& options) {
  std::vector<std::unique_ptr<Driver>> drivers;
  const uint64_t run_id = draw_run_id();
  for (const std::string& url : options.databases) {
    auto driver = open_driver({.url = url,
                               .isolation = options.isolation,
                               .timeout = options.timeout,
                               .seed = options.seed,
                               .tables = {},
                               .run = run_id});
    if (!driver.ok()) return driver.error();
    drivers.push_back(std::move(*driver));
  }
  if (drivers.empty()) return usage_error("a probe needs a database");
  if (Status s = drivers.front()->prepare(); !s.ok()) return s.error();
  RunClock clock;
  Played played;
  HistorySink sink;
  Actors actors;
  for (uint32_t i = 0; i < kTxns; ++i) {
    auto session = connect(*drivers[i == 0 ? 0 : (i - 1) % drivers.size()]);
    if (!session.ok()) return session.error();
    actors[i] = std::make_unique<Actor>(i, std::move(*session), clock);
  }
  follow("b0 w0x w0y c0", actors, options.timeout * 3);
  if (!actors[0]->over() || actors[0]->record().status != TxnStatus::committed)
    return io_error("the first transaction did not commit: " + actors[0]->refusal());
  // A replica may need a moment; what it shows later is then the scenario's own doing.
  if (drivers.size() > 1) std::this_thread::sleep_for(std::chrono::milliseconds(300));
  follow(scenario.script, actors, kBlockedAfter);
  for (const auto& actor : actors) {
    // Two that wait for each other end by their time-outs.
    if (!actor->wait(options.timeout * 10)) return io_error("the database does not answer");
    if (!actor->began()) continue;
    if (!actor->over()) return io_error("a transaction of the script did not end");
    if (Status s = sink.transaction(actor->record()); !s.ok()) return s.error();
    if (actor->refusal().empty()) continue;
    if (played.aborted++ == 0) played.first_refusal = actor->refusal();
  }
  auto history = sink.take();
  if (!history.ok()) return history.error();
  played.history = std::move(*history);
  return played;
}

}  // namespace

Result<Played> play(const Scenario& scenario, const ProbeOptions& options) {
  Result<Played> played = play_it(scenario, options);
  if (!played.ok()) played.error().message = redacted(played.error().message);
  return played;
}

}  // namespace assay::internal::collect
