// A hunter of write skew. Keys come in pairs (2i, 2i+1); a transaction reads both keys of a pair and writes
// one of them. Two such transactions at once, one writing each side,
//
//   s1: { r(x,0) r(y,0) w(x,1) }     s2: { r(x,0) r(y,0) w(y,2) }
//
// have no order, yet write different keys, so a database that looks for write conflicts alone lets both in.
// Every write follows a read of its key, so the order of versions is known and checking is linear.
#include "collect/workloads/integer_keys.h"
#include "collect/workloads/registry.h"
#include "collect/workloads/session_workload.h"

namespace assay::collect {
namespace {

class WriteSkewSession : public WorkloadSession {
 public:
  static constexpr OpKind kKinds[] = {OpKind::read, OpKind::write};
  static std::vector<Request> final_reads(const WorkloadOptions& options, uint64_t limit,
                                          Rng& rng) {
    return read_integer_keys(options.keys, limit, rng);
  }

  WriteSkewSession(const WorkloadOptions& options, Rng rng, UniqueValues values, SessionSeat)
      : keys_(options.keys),
        pairs_(options.distribution, (options.keys + 1) / 2),
        rng_(rng),
        values_(values) {}

  void start(bool retry) override {
    at_ = 0;
    if (retry) return;
    pair_ = pairs_.draw(rng_);
    second_ = rng_.chance(0.5);
  }

  bool next(const Reply*, Request& request) override {
    if (at_ == 3) return false;
    const bool read = at_ < 2;
    // The side that is not written is read last, so that it is read late.
    const bool side = at_ == 1 ? !second_ : second_;
    ++at_;
    request = {.kind = read ? OpKind::read : OpKind::write, .key = key(side)};
    if (!read) request.value = values_.take();
    return true;
  }

 private:
  // With an odd number of keys the last one has no partner but the first.
  Value key(bool side) const {
    return Value::of(static_cast<int64_t>((2 * pair_ + (side ? 1 : 0)) % keys_));
  }

  uint64_t keys_;
  Ranks pairs_;
  Rng rng_;
  UniqueValues values_;
  uint64_t pair_ = 0;
  bool second_ = false;
  int at_ = 0;
};

constexpr Anomaly kShows[] = {
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
                                 "reads both keys of a pair and writes one: a hunter of write skew",
                                 kShows, make_write_skew};

}  // namespace assay::collect
