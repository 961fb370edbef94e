// Lightweight transactions: one operation on one key, a read, an insert if absent, or a
// compare-and-set of what the session saw there last. Histories of them are what `linearizable` is
// defined for. Source: the lightweight transactions of the MTC paper (Wei et al., 2025).
#include <optional>
#include <unordered_map>

#include "collect/workloads/integer_keys.h"
#include "collect/workloads/planned_session.h"
#include "collect/workloads/registry.h"
#include "collect/workloads/session_workload.h"

namespace assay::internal::collect {
namespace {

class LwtSession : public AnsweredSession {
 public:
  static constexpr OpKind kKinds[] = {OpKind::read, OpKind::cas, OpKind::insert};
  // No final reads: a transaction has one operation here.
  static std::vector<Request> final_reads(const WorkloadOptions&, uint64_t, Rng&) { return {}; }
  static std::vector<Request> usual_reads(const WorkloadOptions& options, uint64_t limit,
                                          Rng& rng) {
    return read_integer_keys(options.keys, limit, rng);
  }

  LwtSession(const WorkloadOptions& options, Rng random, WrittenValues values, SessionSeat)
      : AnsweredSession(random, values),
        read_share_(options.read_share),
        keys_(options.distribution, options.keys) {}

  // Forgets what an aborted transaction saw.
  void start(bool retry) override {
    if (!retry && learnt_) seen_[learnt_->first] = learnt_->second;
    learnt_.reset();
    PlannedSession::start(retry);
  }

 protected:
  void plan() override {
    const uint64_t key = keys_.draw(rng());
    const bool reads = rng().chance(read_share_);
    const auto seen = seen_.find(key);
    if (reads)
      read(integer_key(key));
    else if (seen == seen_.end() || seen->second.is_null())
      put({.kind = OpKind::insert, .key = integer_key(key), .value = take_value()});
    else
      put({.kind = OpKind::cas,
           .key = integer_key(key),
           .value = take_value(),
           .expected = seen->second});
  }

  void answered(const Request& request, const Reply& reply) override {
    const auto key = static_cast<uint64_t>(request.key.integer);
    if (request.kind == OpKind::read) learnt_.emplace(key, reply.value);
    if (request.kind != OpKind::read && reply.effect) learnt_.emplace(key, request.value);
  }

 private:
  double read_share_;
  Ranks keys_;
  std::unordered_map<uint64_t, Value> seen_;          // by key, its last known value
  std::optional<std::pair<uint64_t, Value>> learnt_;  // from the transaction that is not over
};

constexpr Anomaly kLwtShows[] = {
    Anomaly::thin_air_read, Anomaly::aborted_read,        Anomaly::session_guarantee_violation,
    Anomaly::lost_update,   Anomaly::real_time_violation,
};

}  // namespace

static Result<std::unique_ptr<Workload>> make_lwt(const WorkloadOptions& options) {
  if (Status s = check_key_options(options); !s.ok()) return s.error();
  return std::unique_ptr<Workload>(std::make_unique<SessionWorkload<LwtSession>>(options));
}

const WorkloadInfo kLwt = {
    "lwt", "lightweight transactions: one read, insert if absent, or compare-and-set", kLwtShows,
    make_lwt, true};

}  // namespace assay::internal::collect
