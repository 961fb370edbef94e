// The workload that other checkers were measured on (Cobra, OSDI 2020): of the transactions a fifth
// only read, two fifths only write, and two fifths read keys and write the same ones.
//
//   r(x) r(y)      w(x) w(y)      r(x) w(x) r(y) w(y)
//
// Writes that follow no read of their key leave the order of versions open, which is what makes such
// histories hard; `mini` beside it shows what that costs.
#include "collect/workloads/integer_keys.h"
#include "collect/workloads/registry.h"
#include "collect/workloads/session_workload.h"

namespace assay::collect {
namespace {

class BaselineSession : public WorkloadSession {
 public:
  static constexpr OpKind kKinds[] = {OpKind::read, OpKind::write};
  static std::vector<Request> final_reads(const WorkloadOptions& options, uint64_t limit,
                                          Rng& rng) {
    return read_integer_keys(options.keys, limit, rng);
  }

  BaselineSession(const WorkloadOptions& options, Rng rng, UniqueValues values, SessionSeat)
      : keys_(options.distribution, options.keys), rng_(rng), values_(values), ops_(options.ops) {}

  void start(bool retry) override {
    at_ = 0;
    if (retry) return;
    const uint64_t draw = rng_.below(5);
    shape_ = draw == 0 ? Shape::read : draw < 3 ? Shape::write : Shape::update;
    plan_.resize(ops_);
    for (uint32_t i = 0; i < ops_; ++i) {
      const bool second = shape_ == Shape::update && i % 2 == 1;
      plan_[i] = second ? plan_[i - 1] : static_cast<int64_t>(keys_.draw(rng_));
    }
  }

  bool next(const Reply*, Request& request) override {
    if (at_ == ops_) return false;
    const bool read = shape_ == Shape::read || (shape_ == Shape::update && at_ % 2 == 0);
    request = {.kind = read ? OpKind::read : OpKind::write, .key = Value::of(plan_[at_++])};
    if (!read) request.value = values_.take();
    return true;
  }

 private:
  enum class Shape : uint8_t { read, write, update };

  Ranks keys_;
  Rng rng_;
  UniqueValues values_;
  uint32_t ops_;
  Shape shape_ = Shape::read;
  std::vector<int64_t> plan_;
  uint32_t at_ = 0;
};

constexpr uint32_t kMaxOps = 100'000;

constexpr Anomaly kShows[] = {
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
  if (Status s = check_key_options(options); !s.ok()) return s.error();
  if (options.ops == 0 || options.ops > kMaxOps)
    return usage_error("a transaction must have between 1 and 100000 operations");
  return std::unique_ptr<Workload>(std::make_unique<SessionWorkload<BaselineSession>>(options));
}

const WorkloadInfo kBaseline = {
    "baseline",
    "general transactions as other checkers were measured on: 20 % read, 40 % write, 40 % do both",
    kShows, make_baseline};

}  // namespace assay::collect
