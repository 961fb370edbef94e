// Finds lost updates: each transaction reads one key and writes it, as a counter does. Two that
// read the same version,
//
//   s1: { r(x,0) w(x,1) }     s2: { r(x,0) w(x,2) }
//
// lose one of the two updates. Every version shows which one it replaced, so checking is linear.
#include "collect/workloads/integer_keys.h"
#include "collect/workloads/planned_session.h"
#include "collect/workloads/registry.h"
#include "collect/workloads/session_workload.h"

namespace assay::internal::collect {
namespace {

class IncrementSession : public PlannedSession, public IntegerRegisters {
 public:
  IncrementSession(const WorkloadOptions& options, Rng random, WrittenValues values, SessionSeat)
      : PlannedSession(random, values), keys_(options.distribution, options.keys) {}

 protected:
  void plan() override { update(integer_key(keys_.draw(rng()))); }

 private:
  Ranks keys_;
};

constexpr Anomaly kIncrementShows[] = {
    Anomaly::aborted_read,
    Anomaly::session_guarantee_violation,
    Anomaly::lost_update,
    Anomaly::real_time_violation,
};

}  // namespace

static Result<std::unique_ptr<Workload>> make_increment(const WorkloadOptions& options) {
  if (Status s = check_key_options(options); !s.ok()) return s.error();
  return std::unique_ptr<Workload>(std::make_unique<SessionWorkload<IncrementSession>>(options));
}

const WorkloadInfo kIncrement = {"increment", "reads a key and writes it, to find lost updates",
                                 kIncrementShows, make_increment};

}  // namespace assay::internal::collect
