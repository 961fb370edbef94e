// General key-value transactions: each operation is a read, a blind write or an increment (which
// reads first) of a key drawn from the distribution. With six parameters (sessions, transactions,
// operations, read share, keys, distribution) it covers most of what random testing can reach. Long
// transactions may be mixed among the others, and sessions may be kept from writing each other's
// keys:
//
//   3 sessions, 8 keys     session 0 writes 0 3 6, session 1 writes 1 4 7, session 2 writes 2 5;
//                          all of them read any
#include <memory>
#include <utility>

#include "collect/workloads/integer_keys.h"
#include "collect/workloads/registry.h"
#include "collect/workloads/session_workload.h"

namespace assay::internal::collect {
namespace {

class GeneralSession : public WorkloadSession, public IntegerRegisters {
 public:
  GeneralSession(const WorkloadOptions& options, Rng rng, WrittenValues values, SessionSeat seat)
      : options_(options), seat_(seat), keys_(options, seat), rng_(rng), values_(values) {}

  void start(bool retry) override {
    at_ = 0;
    if (retry) return;
    const bool is_long = options_.long_ops > 0 && rng_.chance(options_.long_share);
    keys_.next_transaction();
    plan_.clear();
    for (uint32_t left = is_long ? options_.long_ops : options_.ops; left > 0; --left) {
      Planned op;
      op.read = rng_.chance(options_.read_share);
      op.key = static_cast<int64_t>(keys_.draw(rng_));
      if (options_.own_writes && !op.read) op.key = own_key(op.key);
      if (!op.read && options_.increment_share > 0 && rng_.chance(options_.increment_share))
        plan_.push_back({true, op.key});
      plan_.push_back(op);
    }
  }

  bool next(const Reply*, Request& request) override {
    if (at_ == plan_.size()) return false;
    const Planned& op = plan_[at_++];
    request.kind = op.read ? OpKind::read : OpKind::write;
    request.key = Value::of(op.key);
    request.value = op.read ? Value() : values_.take();
    return true;
  }
  bool ignores_replies() const override { return true; }

 private:
  // A key near this one that belongs to the session. There are at least as many keys as sessions.
  int64_t own_key(int64_t key) const {
    const int64_t sessions = seat_.sessions;
    const int64_t own = key - key % sessions + seat_.session;
    return own < static_cast<int64_t>(options_.keys) ? own : own - sessions;
  }

  struct Planned {
    bool read = true;
    int64_t key = 0;
  };

  WorkloadOptions options_;
  SessionSeat seat_;
  DrawnKeys keys_;
  Rng rng_;
  WrittenValues values_;
  std::vector<Planned> plan_;
  size_t at_ = 0;
};

}  // namespace

static Result<std::unique_ptr<Workload>> make_general(const WorkloadOptions& options) {
  if (Status s = check_key_and_operation_options(options); !s.ok()) return s.error();
  if (!(options.read_share >= 0 && options.read_share <= 1))
    return usage_error("the read share must be between 0 and 1");
  return std::unique_ptr<Workload>(std::make_unique<SessionWorkload<GeneralSession>>(options));
}

const WorkloadInfo kGeneral = {"general", "reads and writes of keys drawn from a distribution",
                               kShownByRegisters, make_general, true};

}  // namespace assay::internal::collect
