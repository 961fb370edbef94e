// The simulated database with the driver interface: a whole run (threads, the recorder, real
// clocks) can be tried on a database whose isolation is known.
//
//   simulated:LEVEL[?bug=ANOMALY[&rate=SHARE]][?turns=no]
//
// With a bug, the given share of the transactions (a fifth by default) runs with it. Sessions take
// turns (collect/turns.h), which makes a run depend on its seed alone; without turns, the system
// schedules them.
#include <fmt/format.h>

#include <charconv>
#include <mutex>

#include "collect/drivers/registry.h"
#include "collect/simulated/engine.h"

namespace assay::internal::collect {
namespace {

constexpr std::string_view kSimulatedScheme = "simulated:";
constexpr double kDefaultRate = 0.2;

// The engine takes one call at a time.
struct SharedEngine {
  SharedEngine(LevelId level, Anomaly bug, double rate, uint64_t seed)
      : engine(level, bug, 0, seed), faults(seed), fault_rate(rate) {}

  std::mutex mutex;
  Engine engine;
  Rng faults;
  double fault_rate;
};

class SimulatedSession : public DriverSession {
 public:
  SimulatedSession(std::shared_ptr<SharedEngine> shared, uint32_t session)
      : shared_(std::move(shared)), session_(session) {}
  ~SimulatedSession() override {
    const std::lock_guard lock(shared_->mutex);
    if (open_) shared_->engine.abort(session_);
  }

  CallResult begin() override {
    const std::lock_guard lock(shared_->mutex);
    ViewOptions view;
    view.faulty = shared_->faults.chance(shared_->fault_rate);
    shared_->engine.begin(session_, view);
    open_ = true;
    return {};
  }

  CallResult call(const Request& request, Reply& reply) override {
    const std::lock_guard lock(shared_->mutex);
    shared_->engine.call(session_, request, reply);
    return {};
  }

  CallResult commit() override {
    const std::lock_guard lock(shared_->mutex);
    open_ = false;
    if (shared_->engine.commit(session_)) return {};
    return CallResult::aborted("conflict");
  }

  CallResult abort() override {
    const std::lock_guard lock(shared_->mutex);
    open_ = false;
    shared_->engine.abort(session_);
    return CallResult::aborted("rolled back by the client");
  }

 private:
  std::shared_ptr<SharedEngine> shared_;
  uint32_t session_;
  bool open_ = false;
};

struct Address {
  LevelId level = LevelId::session_si;
  Anomaly bug = Anomaly::none;
  double rate = 0;
  bool turns = true;
};

class SimulatedDriver : public Driver {
 public:
  SimulatedDriver(const Address& address, uint64_t seed)
      : address_(address),
        shared_(std::make_shared<SharedEngine>(address.level, address.bug, address.rate, seed)) {}

  bool supports(OpKind) const override { return true; }
  bool supports_conditions() const override { return true; }
  bool takes_turns() const override { return address_.turns; }
  Status prepare() override { return Ok{}; }
  Result<std::unique_ptr<DriverSession>> connect() override {
    const std::lock_guard lock(shared_->mutex);
    return std::unique_ptr<DriverSession>(
        std::make_unique<SimulatedSession>(shared_, shared_->engine.add_session()));
  }
  std::string describe() const override {
    const std::string_view bug =
        address_.bug == Anomaly::none ? "none" : anomaly_info(address_.bug).name;
    return fmt::format(R"({{"name":"simulated","isolation":"{}","bug":"{}","rate":{}}})",
                       level_info(address_.level).name, bug, address_.rate);
  }

 private:
  Address address_;
  std::shared_ptr<SharedEngine> shared_;
};

// The "bug=…&rate=…&turns=…" of a URL.
Status parse_query(std::string_view query, Address& address) {
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), part.size() + 1));
    const std::string_view name = part.substr(0, part.find('='));
    const std::string_view value = part.substr(std::min(part.size(), name.size() + 1));
    if (name == "bug") {
      const auto bug = find_anomaly(value);
      if (!bug || !forbids(address.level, *bug) || *bug == Anomaly::future_read)
        return usage_error(fmt::format("'{}' cannot be a bug of the simulated database at {}",
                                       value, level_info(address.level).name));
      address.bug = *bug;
      if (address.rate == 0) address.rate = kDefaultRate;
    } else if (name == "rate") {
      const auto end = std::from_chars(value.data(), value.data() + value.size(), address.rate);
      if (end.ec != std::errc() || !(address.rate > 0 && address.rate <= 1))
        return usage_error(fmt::format("the rate '{}' must be above 0 and at most 1", value));
    } else if (name == "turns" && (value == "yes" || value == "no")) {
      address.turns = value == "yes";
    } else {
      return usage_error(fmt::format(
          "simulated: unknown option '{}'; expected bug=, rate= or turns=yes or no", part));
    }
  }
  return Ok{};
}

Result<std::unique_ptr<Driver>> open_simulated(const DriverOptions& options) {
  if (!options.isolation.empty())
    return usage_error("simulated: the isolation is the level in the URL");
  std::string_view rest = std::string_view(options.url).substr(kSimulatedScheme.size());
  while (rest.starts_with('/')) rest.remove_prefix(1);
  const std::string_view name = rest.substr(0, rest.find('?'));
  rest.remove_prefix(std::min(rest.size(), name.size() + 1));
  Address address;
  const auto level = find_level(name);
  if (!level) return usage_error(fmt::format("simulated: unknown level '{}'", name));
  address.level = *level;
  if (Status s = parse_query(rest, address); !s.ok()) return s.error();
  if (address.bug == Anomaly::none) address.rate = 0;
  return std::unique_ptr<Driver>(std::make_unique<SimulatedDriver>(address, options.seed));
}

}  // namespace

const DriverInfo kSimulated = {"simulated",
                               "a database in memory whose isolation is known",
                               "simulated:LEVEL",
                               {},
                               open_simulated};

}  // namespace assay::internal::collect
