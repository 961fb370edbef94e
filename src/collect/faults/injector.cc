#include "collect/faults/injector.h"

#include <fmt/format.h>
#include <stdlib.h>

namespace assay::internal::collect {
namespace {

constexpr auto kDelay = std::chrono::milliseconds(100);

// The action that is passed to the node command.
const char* action_of(FaultKind kind, bool begins) {
  if (kind == FaultKind::pause) return begins ? "pause" : "resume";
  return begins ? "kill" : "start";
}

}  // namespace

FaultInjector::FaultInjector(const FaultOptions& options, uint32_t nodes, uint64_t seed,
                             std::vector<std::unique_ptr<Proxy>> proxies)
    : options_(options),
      schedule_(options.kinds, nodes, options.interval, seed),
      proxies_(std::move(proxies)) {}

FaultInjector::~FaultInjector() { static_cast<void>(stop()); }

void FaultInjector::start(Sink& sink, const RunClock& clock) {
  sink_ = &sink;
  clock_ = &clock;
  thread_ = std::thread([this] { run(); });
}

Status FaultInjector::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  return status_;
}

// Returns false if the run ends first.
bool FaultInjector::wait_until(double seconds) {
  std::unique_lock lock(mutex_);
  while (!stopping_ && clock_->seconds() < seconds)
    changed_.wait_for(lock, std::chrono::duration<double>(seconds - clock_->seconds()));
  return !stopping_;
}

Status FaultInjector::command(const char* action, uint32_t node) {
  const std::string line =
      fmt::format("{} {} {} >/dev/null </dev/null", options_.node_command, action, node + 1);
  if (system(line.c_str()) != 0) return io_error("this failed: " + line);
  return Ok{};
}

void FaultInjector::act(const Fault& fault, bool begins) {
  const int64_t at = clock_->now();
  if (fault.kind == FaultKind::partition)
    proxies_[fault.node]->set_silent(begins);
  else if (fault.kind == FaultKind::delay)
    proxies_[fault.node]->set_delay(begins ? kDelay : std::chrono::milliseconds(0));
  else if (Status s = command(action_of(fault.kind, begins), fault.node); !s.ok() && status_.ok())
    status_ = s;
  const std::string line = fmt::format(
      R"({{"event":"{}","at":{},"until":{},"what":"{}","node":{}}})", begins ? "fault" : "heal", at,
      clock_->now(), fault_name(fault.kind), fault.node + 1);
  if (Status s = sink_->event(at, line); !s.ok() && status_.ok()) status_ = s;
}

void FaultInjector::run() {
  double late = 0;  // healing may take time, and what follows is delayed by as much
  while (status_.ok()) {
    const Fault fault = schedule_.next();
    if (!wait_until(fault.begin + late)) return;
    act(fault, true);
    wait_until(fault.end + late);
    act(fault, false);
    late = clock_->seconds() - fault.end;
  }
}

}  // namespace assay::internal::collect
