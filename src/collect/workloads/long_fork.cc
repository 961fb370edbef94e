// A hunter of long forks. Keys come in pairs (2i, 2i+1); a transaction either writes one key of a pair, blindly, or
// reads both. Two readers may then see two writes in different orders,
//
//   s1: { w(x,1) }   s2: { w(y,1) }   s3: { r(x,1) r(y,0) }   s4: { r(x,0) r(y,1) }
//
// as between a primary and a replica that apply commits in different orders. A session writes one side only, so
// that all writers of a key are few sessions and the order of its versions is soon known.
#include "collect/workloads/integer_keys.h"
#include "collect/workloads/registry.h"
#include "collect/workloads/session_workload.h"

namespace assay::collect {
namespace {

class LongForkSession : public WorkloadSession {
 public:
  static constexpr OpKind kKinds[] = {OpKind::read, OpKind::write};
  static std::vector<Request> final_reads(const WorkloadOptions& options, uint64_t limit,
                                          Rng& rng) {
    return read_integer_keys(options.keys, limit, rng);
  }

  LongForkSession(const WorkloadOptions& options, Rng rng, UniqueValues values, SessionSeat seat)
      : keys_(options.keys),
        read_share_(options.read_share),
        side_(seat.session / 2 % 2),
        pairs_(options.distribution, (options.keys + 1) / 2),
        rng_(rng),
        values_(values) {}

  void start(bool retry) override {
    at_ = 0;
    if (retry) return;
    pair_ = pairs_.draw(rng_);
    reads_ = rng_.chance(read_share_);
    second_first_ = rng_.chance(0.5);
  }

  bool next(const Reply*, Request& request) override {
    const int last = reads_ ? 2 : 1;
    if (at_ == last) return false;
    const uint64_t side = reads_ ? (at_ == 0) == second_first_ : side_;
    ++at_;
    request = {.kind = reads_ ? OpKind::read : OpKind::write,
               .key = Value::of(static_cast<int64_t>((2 * pair_ + side) % keys_))};
    if (!reads_) request.value = values_.take();
    return true;
  }

 private:
  uint64_t keys_;
  double read_share_;
  uint64_t side_;
  Ranks pairs_;
  Rng rng_;
  UniqueValues values_;
  uint64_t pair_ = 0;
  bool reads_ = false;
  bool second_first_ = false;
  int at_ = 0;
};

constexpr Anomaly kShows[] = {
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
                                "writes one key of a pair or reads both: a hunter of long forks",
                                kShows, make_long_fork};

}  // namespace assay::collect
