// A hunter of lost updates: each transaction reads one key and writes it, as who counts something does. Two that
// read the same version,
//
//   s1: { r(x,0) w(x,1) }     s2: { r(x,0) w(x,2) }
//
// lose one of the two updates. Every version tells which one it replaced, so checking is linear.
#include "collect/workloads/integer_keys.h"
#include "collect/workloads/registry.h"
#include "collect/workloads/session_workload.h"

namespace assay::collect {
namespace {

class IncrementSession : public WorkloadSession {
 public:
  static constexpr OpKind kKinds[] = {OpKind::read, OpKind::write};
  static std::vector<Request> final_reads(const WorkloadOptions& options, uint64_t limit,
                                          Rng& rng) {
    return read_integer_keys(options.keys, limit, rng);
  }

  IncrementSession(const WorkloadOptions& options, Rng rng, UniqueValues values, SessionSeat)
      : keys_(options.distribution, options.keys), rng_(rng), values_(values) {}

  void start(bool retry) override {
    at_ = 0;
    if (!retry) key_ = Value::of(static_cast<int64_t>(keys_.draw(rng_)));
  }

  bool next(const Reply*, Request& request) override {
    if (at_ == 2) return false;
    const bool read = at_++ == 0;
    request = {.kind = read ? OpKind::read : OpKind::write, .key = key_};
    if (!read) request.value = values_.take();
    return true;
  }

 private:
  Ranks keys_;
  Rng rng_;
  UniqueValues values_;
  Value key_;
  int at_ = 0;
};

constexpr Anomaly kShows[] = {
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

const WorkloadInfo kIncrement = {"increment", "reads a key and writes it: a hunter of lost updates",
                                 kShows, make_increment};

}  // namespace assay::collect
