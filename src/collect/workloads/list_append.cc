// Lists to which transactions append, and which they read whole. A list that was read tells the order of all its
// elements, so nothing about the order of versions has to be guessed: two readers of
//
//   s1: { append(x,1) r(y,[]) }     s2: { append(y,2) r(x,[]) }
//
// are write skew for certain. Keys are in use for a while only, so that lists stay short and new rows come into
// being all the time, which is where databases that watch rows go wrong: after every 32 transactions, of all
// sessions together, the older half of the keys makes way for new ones. Source: the workload of Elle (Kingsbury and
// Alvaro, 2020).
#include <algorithm>
#include <atomic>

#include "collect/workloads/integer_keys.h"
#include "collect/workloads/registry.h"

namespace assay::collect {
namespace {

constexpr uint64_t kTxnsPerStep = 32;
constexpr uint32_t kMaxOps = 1000;

// The oldest key in use when so many transactions have started.
uint64_t first_key(uint64_t started, uint64_t keys) { return started / kTxnsPerStep * (keys / 2); }

constexpr OpKind kKinds[] = {OpKind::append, OpKind::read_list};

class ListAppendSession : public WorkloadSession {
 public:
  ListAppendSession(const WorkloadOptions& options, Rng rng, UniqueValues values,
                    std::atomic<uint64_t>& started)
      : read_share_(options.read_share),
        keys_(options.distribution, options.keys),
        rng_(rng),
        values_(values),
        plan_(options.ops),
        started_(started) {}

  void start(bool retry) override {
    at_ = 0;
    if (retry) return;
    const uint64_t first = first_key(started_++, keys_.size());
    for (Planned& op : plan_) {
      op.read = rng_.chance(read_share_);
      op.key = static_cast<int64_t>(first + keys_.draw(rng_));
    }
  }

  bool next(const Reply*, Request& request) override {
    if (at_ == plan_.size()) return false;
    const Planned& op = plan_[at_++];
    request = {.kind = op.read ? OpKind::read_list : OpKind::append, .key = Value::of(op.key)};
    if (!op.read) request.value = values_.take();
    return true;
  }

 private:
  struct Planned {
    bool read = true;
    int64_t key = 0;
  };

  double read_share_;
  Ranks keys_;
  Rng rng_;
  UniqueValues values_;
  std::vector<Planned> plan_;
  size_t at_ = 0;
  std::atomic<uint64_t>& started_;  // transactions of all sessions
};

class ListAppend : public Workload {
 public:
  explicit ListAppend(const WorkloadOptions& options) : options_(options) {}

  std::unique_ptr<WorkloadSession> open(uint32_t session, uint32_t sessions,
                                        uint64_t seed) const override {
    return std::make_unique<ListAppendSession>(options_, Rng(seed).split(session),
                                               UniqueValues(session, sessions), started_);
  }
  std::span<const OpKind> kinds() const override { return kKinds; }
  // The newest.
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

constexpr Anomaly kShows[] = {
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
  if (Status s = check_key_options(options); !s.ok()) return s.error();
  if (options.ops == 0 || options.ops > kMaxOps)
    return usage_error("a transaction of list-append must have between 1 and 1000 operations");
  return std::unique_ptr<Workload>(std::make_unique<ListAppend>(options));
}

const WorkloadInfo kListAppend = {
    "list-append", "appends to lists and reads of whole lists, on keys that come and go", kShows,
    make_list_append};

}  // namespace assay::collect
