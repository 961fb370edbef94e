// Finds write skew. Keys come in pairs (2i, 2i+1); a transaction reads both keys of a pair and
// writes one of them. Two such transactions at once, one writing each side,
//
//   s1: { r(x,0) r(y,0) w(x,1) }     s2: { r(x,0) r(y,0) w(y,2) }
//
// have no order, yet write different keys, so a database that only looks for write conflicts
// accepts both. Every write follows a read of its key, so the order of versions is known and
// checking is linear.
#include "collect/workloads/integer_keys.h"
#include "collect/workloads/planned_session.h"
#include "collect/workloads/registry.h"
#include "collect/workloads/session_workload.h"

namespace assay::internal::collect {
namespace {

class WriteSkewSession : public PlannedSession, public IntegerRegisters {
 public:
  WriteSkewSession(const WorkloadOptions& options, Rng random, WrittenValues values, SessionSeat)
      : PlannedSession(random, values),
        keys_(options.keys),
        pairs_(options.distribution, (options.keys + 1) / 2) {}

 protected:
  void plan() override {
    const uint64_t pair = pairs_.draw(rng());
    const uint64_t side = rng().below(2);
    // With an odd number of keys, the last one has only the first as its partner.
    const Value mine = integer_key((2 * pair + side) % keys_);
    read(mine);
    // The side that is not written is read last, and so late.
    read(integer_key((2 * pair + 1 - side) % keys_));
    write(mine);
  }

 private:
  uint64_t keys_;
  Ranks pairs_;
};

constexpr Anomaly kWriteSkewShows[] = {
    Anomaly::aborted_read,   Anomaly::session_guarantee_violation, Anomaly::non_monotonic_read,
    Anomaly::fractured_read, Anomaly::causality_violation,         Anomaly::lost_update,
    Anomaly::write_skew,     Anomaly::real_time_violation,
};

}  // namespace

static Result<std::unique_ptr<Workload>> make_write_skew(const WorkloadOptions& options) {
  if (Status s = check_key_options(options); !s.ok()) return s.error();
  return std::unique_ptr<Workload>(std::make_unique<SessionWorkload<WriteSkewSession>>(options));
}

const WorkloadInfo kWriteSkew = {"write-skew",
                                 "reads both keys of a pair and writes one, to find write skew",
                                 kWriteSkewShows, make_write_skew};

}  // namespace assay::internal::collect
