// The workload that other checkers were measured on (Cobra, OSDI 2020): a fifth of the transactions
// only read, two fifths only write, and two fifths read keys and write the same ones.
//
//   r(x) r(y)      w(x) w(y)      r(x) w(x) r(y) w(y)
//
// Writes that follow no read of their key leave the order of versions open, which makes such
// histories hard; a comparison with `mini` shows what that costs.
#include "collect/workloads/integer_keys.h"
#include "collect/workloads/planned_session.h"
#include "collect/workloads/registry.h"
#include "collect/workloads/session_workload.h"

namespace assay::internal::collect {
namespace {

class BaselineSession : public PlannedSession, public IntegerRegisters {
 public:
  BaselineSession(const WorkloadOptions& options, Rng random, WrittenValues values, SessionSeat)
      : PlannedSession(random, values),
        keys_(options.distribution, options.keys),
        ops_(options.ops) {}

 protected:
  void plan() override {
    const uint64_t draw = rng().below(5);
    const bool reads = draw == 0, writes = draw == 1 || draw == 2;
    Value key;
    for (uint32_t i = 0; i < ops_; ++i) {
      const bool second = !reads && !writes && i % 2 == 1;  // of the same key
      if (!second) key = integer_key(keys_.draw(rng()));
      if (writes || second)
        write(key);
      else
        read(key);
    }
  }

 private:
  Ranks keys_;
  uint32_t ops_;
};

constexpr Anomaly kBaselineShows[] = {
    Anomaly::thin_air_read,       Anomaly::aborted_read,
    Anomaly::future_read,         Anomaly::intermediate_read,
    Anomaly::non_repeatable_read, Anomaly::session_guarantee_violation,
    Anomaly::non_monotonic_read,  Anomaly::fractured_read,
    Anomaly::causality_violation, Anomaly::long_fork,
    Anomaly::lost_update,         Anomaly::write_skew,
    Anomaly::real_time_violation,
};

}  // namespace

static Result<std::unique_ptr<Workload>> make_baseline(const WorkloadOptions& options) {
  if (Status s = check_key_and_operation_options(options); !s.ok()) return s.error();
  return std::unique_ptr<Workload>(std::make_unique<SessionWorkload<BaselineSession>>(options));
}

const WorkloadInfo kBaseline = {
    "baseline",
    "transactions as used in measurements of other checkers: 20 % read, 40 % write, 40 % do both",
    kBaselineShows, make_baseline};

}  // namespace assay::internal::collect
