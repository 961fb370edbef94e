// Queries by condition, among reads and writes of single keys. Every value carries a number between
// 0 and 999 for conditions to compare. By default, half of the operations are queries with a
// condition, which a tenth of the numbers satisfies; the rest are reads and writes of a key, and
// the first write of a key inserts it. A row that a query did not find, and that another
// transaction moves into its condition, is a phantom. A query may be an update by condition, which
// overwrites each row that it found, and a write an increment, which reads first. Source: the mixes
// with predicates of Emme (Clark et al., 2024), without its inserts that check whether the key is
// there, which are in v_range.cc.
#include <algorithm>

#include "collect/workloads/integer_keys.h"
#include "collect/workloads/planned_session.h"
#include "collect/workloads/registry.h"
#include "collect/workloads/session_workload.h"

namespace assay::internal::collect {
namespace {

constexpr uint32_t kMaxOps = 1000;
constexpr uint64_t kNumbers = 1000;
// All values have the same number of digits, and so the same order as texts.
constexpr int64_t kFirstNumber = 1000;

class PredicatesSession : public AnsweredSession {
 public:
  static constexpr OpKind kKinds[] = {OpKind::read, OpKind::write, OpKind::range};
  static std::vector<Request> final_reads(const WorkloadOptions&, uint64_t, Rng&) {
    return {{.kind = OpKind::range}};
  }
  static std::vector<Request> usual_reads(const WorkloadOptions& options, uint64_t limit,
                                          Rng& rng) {
    return read_integer_keys(options.keys, limit, rng);
  }

  PredicatesSession(const WorkloadOptions& options, Rng random, WrittenValues values, SessionSeat)
      : AnsweredSession(random, values),
        ops_(options.ops),
        keys_(options.keys),
        read_share_(options.read_share),
        query_share_(options.query_share),
        update_share_(options.update_share),
        increment_share_(options.increment_share),
        width_(std::max(uint64_t{1}, static_cast<uint64_t>(options.query_width * kNumbers))) {}

  // Only an update by condition needs the answers.
  bool ignores_replies() const override { return update_share_ == 0; }

 protected:
  void plan() override {
    planned_ = 0;
    put_next();
  }

  void answered(const Request& request, const Reply& reply) override {
    const bool updates = request.kind == OpKind::range && draws(update_share_);
    for (const auto& [key, value] : reply.rows)
      if (updates) write(key, numbered());
    put_next();
  }

 private:
  // Puts requests one by one if an answer may lead to more, otherwise all at once.
  void put_next() {
    while (planned_ < ops_) {
      ++planned_;
      put_one();
      if (!ignores_replies()) return;
    }
  }
  void put_one() {
    if (rng().chance(query_share_)) return put(query(rng()));
    const Value key = integer_key(rng().below(keys_));
    const bool reads = rng().chance(read_share_);
    if (reads || draws(increment_share_)) read(key);
    if (!reads) write(key, numbered());
  }
  bool draws(double share) { return share > 0 && rng().chance(share); }

  Value numbered() { return stamped(kFirstNumber + static_cast<int64_t>(rng().below(kNumbers))); }

  Request query(Rng& rng) const {
    const auto from =
        kFirstNumber + static_cast<int64_t>(rng.below(std::max(uint64_t{1}, kNumbers - width_)));
    Request request{.kind = OpKind::range};
    request.least = Value::of(from << 40);
    request.most = Value::of(((from + static_cast<int64_t>(width_)) << 40) - 1);
    return request;
  }

  uint32_t ops_;
  uint64_t keys_;
  double read_share_, query_share_, update_share_, increment_share_;
  uint32_t planned_ = 0;  // number of the transaction's operations that have been put
  uint64_t width_;        // how many numbers satisfy a condition
};

constexpr Anomaly kShows[] = {
    Anomaly::aborted_read,
    Anomaly::fractured_read,
    Anomaly::non_monotonic_read,
    Anomaly::write_skew,
    Anomaly::g2,
    Anomaly::real_time_violation,
    Anomaly::phantom,
};

class Predicates : public SessionWorkload<PredicatesSession> {
 public:
  using SessionWorkload::SessionWorkload;
  bool selects() const override { return true; }
};

Result<std::unique_ptr<Workload>> make_predicates(const WorkloadOptions& options) {
  if (Status s = check_key_and_operation_options(options, kMaxOps); !s.ok()) return s.error();
  return std::unique_ptr<Workload>(std::make_unique<Predicates>(options));
}

}  // namespace

const WorkloadInfo kPredicateQueries = {"predicates", "queries by condition, reads and writes",
                                        kShows, make_predicates};

}  // namespace assay::internal::collect
