// Transactions that only read or only write blindly, the hardest shape for a checker: no write
// shows which version it replaced. BlindW-RW has as many of one kind as of the other, BlindW-RM
// nine readers for each writer. Source: Cobra (Tan et al., 2020), as used by Viper (Zhang et al.,
// 2023): 8 operations, 2,000 keys.
#include "collect/workloads/integer_keys.h"
#include "collect/workloads/planned_session.h"
#include "collect/workloads/registry.h"
#include "collect/workloads/session_workload.h"

namespace assay::internal::collect {
namespace {

class BlindSession : public PlannedSession, public IntegerRegisters {
 public:
  // The share of reads is the share of transactions that read.
  BlindSession(const WorkloadOptions& options, Rng random, WrittenValues values, SessionSeat)
      : PlannedSession(random, values),
        options_(options),
        keys_(options.distribution, options.keys) {}

 protected:
  void plan() override {
    const bool reads = rng().chance(options_.read_share);
    for (uint32_t i = 0; i < options_.ops; ++i) {
      const Value key = integer_key(keys_.draw(rng()));
      if (reads)
        read(key);
      else
        write(key);
    }
  }

 private:
  WorkloadOptions options_;
  Ranks keys_;
};

class BlindWorkload : public SessionWorkload<BlindSession> {
 public:
  using SessionWorkload::SessionWorkload;
  bool writes_blindly() const override { return true; }
};

constexpr Anomaly kBlindwShows[] = {
    Anomaly::thin_air_read,       Anomaly::aborted_read,
    Anomaly::intermediate_read,   Anomaly::non_repeatable_read,
    Anomaly::non_monotonic_read,  Anomaly::session_guarantee_violation,
    Anomaly::fractured_read,      Anomaly::causality_violation,
    Anomaly::long_fork,           Anomaly::g1c,
    Anomaly::real_time_violation,
};

Result<std::unique_ptr<Workload>> make_blind(WorkloadOptions options, double read_share) {
  if (Status s = check_key_and_operation_options(options); !s.ok()) return s.error();
  options.read_share = read_share;
  return std::unique_ptr<Workload>(std::make_unique<BlindWorkload>(options));
}

}  // namespace

const WorkloadInfo kBlindwRw = {
    "blindw-rw", "half the transactions read, half write blindly", kBlindwShows,
    [](const WorkloadOptions& options) { return make_blind(options, 0.5); }, true};
const WorkloadInfo kBlindwRm = {
    "blindw-rm", "nine of ten transactions read, one writes blindly", kBlindwShows,
    [](const WorkloadOptions& options) { return make_blind(options, 0.9); }, true};

}  // namespace assay::internal::collect
