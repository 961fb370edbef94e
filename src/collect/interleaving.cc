#include "collect/interleaving.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "collect/client.h"
#include "collect/driver.h"
#include "collect/player.h"
#include "collect/run_id.h"
#include "collect/sink.h"
#include "collect/sql/statement.h"
#include "collect/url.h"

namespace assay::internal::collect {
namespace {

constexpr auto kPlayConnectFor = std::chrono::seconds(3);

// One transaction on its connection.
class Actor {
 public:
  Actor(const PlayedTxn& txn, std::unique_ptr<DriverSession> session, const RunClock& clock)
      : session_(std::move(session)), clock_(clock) {
    record_.session = txn.session;
    record_.number = txn.number;
  }

  uint64_t backend() const { return session_->backend(); }
  void take(const PlayedStep& step) {
    if (!over_) act(step);
  }
  // After the last step.
  const TxnRecord& record() const { return record_; }
  bool began() const { return began_; }
  bool over() const { return over_; }
  const std::string& refusal() const { return refusal_; }

 private:
  void act(const PlayedStep& played) {
    const int64_t request = clock_.now();
    switch (played.what) {
      case PlayedStep::What::begin: {
        began_ = true;
        const CallResult result = session_->begin();
        record_.begin = {request, clock_.now()};
        return finish(result, request, TxnStatus::aborted);
      }
      case PlayedStep::What::commit: {
        const CallResult result = session_->commit();
        finish(result, request, TxnStatus::unknown);
        if (result.ok()) end(TxnStatus::committed, request);
        return;
      }
      case PlayedStep::What::abort:
        session_->abort();
        return end(TxnStatus::aborted, request);
      case PlayedStep::What::operation:
        return call(played.request, request);
    }
  }

  void call(const Request& operation, int64_t request) {
    if (operation.statement) return perform(*operation.statement, request);
    Step& step = record_.steps.emplace_back();
    step.request = operation;
    const CallResult result = session_->call(step.request, step.reply);
    // Some databases take the snapshot only now.
    if (record_.steps.size() == 1) record_.begin.response = clock_.now();
    if (!result.ok() && !changes_data(operation.kind)) record_.steps.pop_back();
    finish(result, request, TxnStatus::aborted);
  }

  void perform(const SqlStatement& statement, int64_t request) {
    Reply reply;
    const std::string version =
        fmt::format("{}-{}.{}", record_.session, record_.number, ++statements_);
    const CallResult result = statement.perform(*session_, version, record_.steps, reply);
    if (statements_ == 1) record_.begin.response = clock_.now();
    finish(result, request, TxnStatus::aborted);
  }

  // What follows from a call that is not ok; `fatal` is what a fatal one leaves.
  void finish(const CallResult& result, int64_t request, TxnStatus fatal) {
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
  TxnRecord record_;
  uint64_t statements_ = 0;  // of SQL
  bool began_ = false;
  bool over_ = false;
  std::string refusal_;
};

Result<std::unique_ptr<DriverSession>> connect(Driver& driver) {
  const auto deadline = std::chrono::steady_clock::now() + kPlayConnectFor;
  while (true) {
    auto session = driver.connect();
    if (session.ok() || std::chrono::steady_clock::now() > deadline) return session;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

using Actors = std::vector<std::unique_ptr<Actor>>;

void follow(const std::vector<PlayedStep>& steps, const Actors& actors, Player& player) {
  for (const PlayedStep& step : steps) {
    const bool free = player.idle(step.txn);
    player.tell(step.txn, [&actor = *actors[step.txn], &step] { actor.take(step); });
    if (free) player.settle(step.txn);
  }
}

Result<Played> play_it(const Interleaving& interleaving, const PlayOptions& options) {
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
  if (drivers.empty()) return usage_error("there is no database to play at; expected a URL");
  if (Status s = drivers.front()->prepare(); !s.ok()) return s.error();
  if (interleaving.set_up)
    if (Status s = interleaving.set_up(*drivers.front()); !s.ok()) return s.error();
  RunClock clock;
  Played played;
  HistorySink sink;
  Actors actors;
  // What one endpoint says of its locks says nothing of the others.
  Player player(drivers.size() == 1 ? drivers.front()->lock_view() : nullptr);
  for (const PlayedTxn& txn : interleaving.txns) {
    auto session = connect(*drivers[txn.endpoint % drivers.size()]);
    if (!session.ok()) return session.error();
    actors.push_back(std::make_unique<Actor>(txn, std::move(*session), clock));
    player.add(actors.back()->backend());
  }
  follow(interleaving.before, actors, player);
  if (!interleaving.before.empty() && !player.wait(0, options.timeout * 3))
    return io_error("the database does not answer");
  if (!interleaving.before.empty() &&
      (!actors[0]->over() || actors[0]->record().status != TxnStatus::committed))
    return io_error("the first transaction did not commit: " + actors[0]->refusal());
  // A replica may need a moment; later differences are due to the scenario.
  if (drivers.size() > 1) std::this_thread::sleep_for(std::chrono::milliseconds(300));
  follow(interleaving.steps, actors, player);
  for (size_t i = 0; i < actors.size(); ++i) {
    const Actor* const actor = actors[i].get();
    // Two that wait for each other end by their time-outs.
    if (!player.wait(i, options.timeout * 10)) return io_error("the database does not answer");
    if (!actor->began()) continue;
    if (!actor->over()) return io_error("a transaction of the script did not end");
    if (Status s = sink.transaction(actor->record()); !s.ok()) return s.error();
    if (actor->refusal().empty()) continue;
    if (played.aborted++ == 0) played.first_refusal = actor->refusal();
  }
  // Should it fail, the next run warns for nothing.
  static_cast<void>(drivers.front()->mark_finished());
  auto history = sink.take();
  if (!history.ok()) return history.error();
  played.history = std::move(*history);
  return played;
}

}  // namespace

Result<Played> play(const Interleaving& interleaving, const PlayOptions& options) {
  Result<Played> played = play_it(interleaving, options);
  if (!played.ok()) played.error().message = redacted(played.error().message);
  return played;
}

}  // namespace assay::internal::collect
