// Keys that come and go under range reads. A transaction has operations of one of five types:
// reads, writes, inserts (of a new largest key, or once more of an old one), deletes, and reads of
// the range from a key to the tenth after it. V-Range-B has a fifth of each type, -RQH half range
// reads, -IDH 35 % inserts and as many deletes. Source: Viper (Zhang et al., 2023).
#include <array>

#include "collect/workloads/integer_keys.h"
#include "collect/workloads/planned_session.h"
#include "collect/workloads/registry.h"
#include "collect/workloads/session_workload.h"

namespace assay::internal::collect {
namespace {

constexpr uint32_t kMaxRangeOps = 1000;
constexpr uint64_t kRangeLength = 10;

// Percentages of reads, writes, inserts and deletes; the rest are ranges.
using Mix = std::array<double, 4>;
constexpr Mix kBalanced = {20, 20, 20, 20};
constexpr Mix kRangeHeavy = {12.5, 12.5, 12.5, 12.5};
constexpr Mix kInsertDeleteHeavy = {10, 10, 35, 35};

template <const Mix& mix>
class VRangeSession : public PlannedSession {
 public:
  static constexpr OpKind kKinds[] = {OpKind::read, OpKind::write, OpKind::insert, OpKind::remove,
                                      OpKind::range};
  // One read of everything is enough.
  static std::vector<Request> final_reads(const WorkloadOptions&, uint64_t, Rng&) {
    return {{.kind = OpKind::range}};
  }
  static std::vector<Request> usual_reads(const WorkloadOptions& options, uint64_t limit,
                                          Rng& rng) {
    std::vector<Request> reads = read_integer_keys(options.keys, limit, rng);
    for (Request& read : reads) {
      const auto key = static_cast<uint64_t>(read.key.integer) + 1;
      read = rng.chance(0.5) ? range_from(key) : Request{.key = integer_key(key)};
    }
    return reads;
  }

  VRangeSession(const WorkloadOptions& options, Rng random, WrittenValues values, SessionSeat seat)
      : PlannedSession(random, values),
        ops_(options.ops),
        keys_(options.keys),
        step_(seat.sessions),
        next_new_(options.keys + seat.session + 1) {}

 protected:
  void plan() override {
    double dice = 100 * rng().unit();
    size_t type = 0;
    while (type < mix.size() && dice >= mix[type]) dice -= mix[type++];
    for (uint32_t i = 0; i < ops_; ++i) put_one(type);
  }

 private:
  void put_one(size_t type) {
    const uint64_t key = 1 + rng().below(keys_);
    switch (type) {
      case 0:
        return read(integer_key(key));
      case 1:
        return write(integer_key(key));
      case 2: {
        const bool fresh = rng().chance(0.5);
        const uint64_t target = fresh ? next_new_ + rng().below(4) * step_ : key;
        return put({.kind = OpKind::insert, .key = integer_key(target), .value = take_value()});
      }
      case 3:
        return put({.kind = OpKind::remove, .key = integer_key(key), .value = take_tombstone()});
      default:
        return put(range_from(key));
    }
  }

  static Request range_from(uint64_t key) {
    return {
        .kind = OpKind::range, .key = integer_key(key), .high = integer_key(key + kRangeLength)};
  }

  uint32_t ops_;
  uint64_t keys_;
  uint64_t step_;
  uint64_t next_new_;
};

constexpr Anomaly kVRangeShows[] = {
    Anomaly::aborted_read,        Anomaly::fractured_read, Anomaly::non_monotonic_read,
    Anomaly::non_repeatable_read, Anomaly::write_skew,     Anomaly::real_time_violation,
};

template <const Mix& mix>
Result<std::unique_ptr<Workload>> make_v_range(const WorkloadOptions& options) {
  if (Status s = check_key_and_operation_options(options, kMaxRangeOps); !s.ok()) return s.error();
  return std::unique_ptr<Workload>(std::make_unique<SessionWorkload<VRangeSession<mix>>>(options));
}

}  // namespace

const WorkloadInfo kVRangeB = {"v-range-b",
                               "reads, writes, inserts, deletes and range reads, a fifth each",
                               kVRangeShows, make_v_range<kBalanced>};
const WorkloadInfo kVRangeRqh = {"v-range-rqh", "the same, half of them range reads", kVRangeShows,
                                 make_v_range<kRangeHeavy>};
const WorkloadInfo kVRangeIdh = {"v-range-idh", "the same, 70 % inserts and deletes", kVRangeShows,
                                 make_v_range<kInsertDeleteHeavy>};

}  // namespace assay::internal::collect
