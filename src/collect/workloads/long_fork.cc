// Finds long forks. Keys come in pairs (2i, 2i+1); a transaction either writes one key of a pair,
// blindly, or reads both. Two readers may then see two writes in different orders,
//
//   s1: { w(x,1) }   s2: { w(y,1) }   s3: { r(x,1) r(y,0) }   s4: { r(x,0) r(y,1) }
//
// as between a primary and a replica that apply commits in different orders. A session writes only
// one side, so few sessions write a key, and the order of its versions is soon known.
#include "collect/workloads/integer_keys.h"
#include "collect/workloads/planned_session.h"
#include "collect/workloads/registry.h"
#include "collect/workloads/session_workload.h"

namespace assay::internal::collect {
namespace {

class LongForkSession : public PlannedSession, public IntegerRegisters {
 public:
  LongForkSession(const WorkloadOptions& options, Rng random, WrittenValues values,
                  SessionSeat seat)
      : PlannedSession(random, values),
        keys_(options.keys),
        read_share_(options.read_share),
        side_(seat.session / 2 % 2),
        pairs_(options.distribution, (options.keys + 1) / 2) {}

 protected:
  void plan() override {
    const uint64_t pair = pairs_.draw(rng());
    const auto key = [&](uint64_t side) { return integer_key((2 * pair + side) % keys_); };
    if (!rng().chance(read_share_)) return write(key(side_));
    const uint64_t first = rng().below(2);
    read(key(first));
    read(key(1 - first));
  }

 private:
  uint64_t keys_;
  double read_share_;
  uint64_t side_;
  Ranks pairs_;
};

constexpr Anomaly kLongForkShows[] = {
    Anomaly::aborted_read,        Anomaly::session_guarantee_violation, Anomaly::non_monotonic_read,
    Anomaly::fractured_read,      Anomaly::causality_violation,         Anomaly::long_fork,
    Anomaly::real_time_violation,
};

}  // namespace

static Result<std::unique_ptr<Workload>> make_long_fork(const WorkloadOptions& options) {
  if (Status s = check_key_options(options); !s.ok()) return s.error();
  return std::unique_ptr<Workload>(std::make_unique<SessionWorkload<LongForkSession>>(options));
}

const WorkloadInfo kLongFork = {"long-fork",
                                "writes one key of a pair or reads both, to find long forks",
                                kLongForkShows, make_long_fork};

}  // namespace assay::internal::collect
