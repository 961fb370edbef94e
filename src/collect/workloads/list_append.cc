// Lists to which transactions append, and which they read whole. A list that was read shows the
// order of all its elements, so nothing about the order of versions has to be guessed: two readers
// of
//
//   s1: { append(x,1) r(y,[]) }     s2: { append(y,2) r(x,[]) }
//
// are write skew for certain. Keys are in use only for a while, which keeps lists short and creates
// new rows all the time, with which databases that watch rows go wrong: after every 32
// transactions, of all sessions together, new keys replace the older half. Source: the workload of
// Elle (Kingsbury and Alvaro, 2020).
#include <algorithm>
#include <atomic>

#include "collect/workloads/integer_keys.h"
#include "collect/workloads/planned_session.h"
#include "collect/workloads/registry.h"

namespace assay::internal::collect {
namespace {

constexpr uint64_t kTxnsPerStep = 32;
constexpr uint32_t kMaxAppends = 1000;

// The oldest key in use when this many transactions have started.
uint64_t first_key(uint64_t started, uint64_t keys) { return started / kTxnsPerStep * (keys / 2); }

constexpr OpKind kListKinds[] = {OpKind::append, OpKind::read_list};

class ListAppendSession : public PlannedSession {
 public:
  // `started` counts the transactions of all sessions.
  ListAppendSession(const WorkloadOptions& options, Rng random, WrittenValues values,
                    std::atomic<uint64_t>& started)
      : PlannedSession(random, values),
        options_(options),
        keys_(options.distribution, options.keys),
        started_(started) {}

  void start(bool retry) override {
    if (!retry) first_ = first_key(started_++, options_.keys);
    PlannedSession::start(retry);
  }

 protected:
  void plan() override {
    for (uint32_t i = 0; i < options_.ops; ++i) {
      const bool reads = rng().chance(options_.read_share);
      const Value key = integer_key(first_ + keys_.draw(rng()));
      if (reads)
        put({.kind = OpKind::read_list, .key = key});
      else
        put({.kind = OpKind::append, .key = key, .value = take_value()});
    }
  }

 private:
  WorkloadOptions options_;
  Ranks keys_;
  std::atomic<uint64_t>& started_;
  uint64_t first_ = 0;  // the oldest key in use
};

class ListAppend : public Workload {
 public:
  explicit ListAppend(const WorkloadOptions& options) : options_(options) {}

  std::unique_ptr<WorkloadSession> open(uint32_t session, uint32_t sessions,
                                        uint64_t seed) const override {
    return std::make_unique<ListAppendSession>(options_, Rng(seed).split(session),
                                               WrittenValues(session, sessions, options_.values),
                                               started_);
  }
  std::span<const OpKind> kinds() const override { return kListKinds; }
  // Reads of the newest keys.
  std::vector<Request> final_reads(uint64_t limit, Rng&) const override {
    const uint64_t end = first_key(started_, options_.keys) + options_.keys;
    std::vector<Request> reads;
    for (uint64_t key = end - std::min(end, limit); key < end; ++key)
      reads.push_back({.kind = OpKind::read_list, .key = Value::of(static_cast<int64_t>(key))});
    return reads;
  }

 private:
  WorkloadOptions options_;
  mutable std::atomic<uint64_t> started_{0};
};

constexpr Anomaly kListAppendShows[] = {
    Anomaly::thin_air_read,
    Anomaly::aborted_read,
    Anomaly::future_read,
    Anomaly::not_my_own_write,
    Anomaly::intermediate_read,
    Anomaly::session_guarantee_violation,
    Anomaly::non_monotonic_read,
    Anomaly::fractured_read,
    Anomaly::causality_violation,
    Anomaly::long_fork,
    Anomaly::write_skew,
    Anomaly::g0,
    Anomaly::g1c,
    Anomaly::g_single,
    Anomaly::g_nonadjacent,
    Anomaly::g2_item,
    Anomaly::real_time_violation,
};

}  // namespace

static Result<std::unique_ptr<Workload>> make_list_append(const WorkloadOptions& options) {
  if (Status s = check_key_and_operation_options(options, kMaxAppends); !s.ok()) return s.error();
  return std::unique_ptr<Workload>(std::make_unique<ListAppend>(options));
}

const WorkloadInfo kListAppend = {
    "list-append", "appends to lists and reads of whole lists, on keys that are replaced over time",
    kListAppendShows, make_list_append, true};

}  // namespace assay::internal::collect
