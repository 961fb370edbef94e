// Transfers between accounts. A transaction reads two balances and writes both, if there is enough
// to transfer, or it reads them all. Money is neither made nor lost in any serial order; what
// breaks that shows in the reads:
//
//   s1: { r(a,100) r(b,100) w(a,90) w(b,110) }     s2: { r(a,90) r(b,100) }   has seen half of a
//                                                  transfer
//
// A balance is the upper 24 bits of the value, which stays unique by the lower 40; an account
// begins with 100.
#include "collect/workloads/integer_keys.h"
#include "collect/workloads/planned_session.h"
#include "collect/workloads/registry.h"
#include "collect/workloads/session_workload.h"

namespace assay::internal::collect {
namespace {

constexpr int64_t kInitialBalance = 100;

class BankSession : public AnsweredSession, public IntegerRegisters {
 public:
  BankSession(const WorkloadOptions& options, Rng random, WrittenValues values, SessionSeat)
      : AnsweredSession(random, values),
        options_(options),
        accounts_(options.distribution, options.keys) {}

 protected:
  void plan() override {
    answers_ = 0;
    looks_ = rng().chance(options_.read_share);
    if (looks_) {
      const uint64_t first = rng().below(options_.keys);
      for (uint64_t i = 0; i < std::min<uint64_t>(options_.ops, options_.keys); ++i)
        read(integer_key((first + i) % options_.keys));
      return;
    }
    from_ = accounts_.draw(rng());
    to_ = accounts_.draw(rng());
    if (from_ == to_) to_ = (from_ + 1) % options_.keys;
    amount_ = rng().between(1, 10);
    read(integer_key(from_));
    if (to_ != from_) read(integer_key(to_));
  }

  void answered(const Request& request, const Reply& reply) override {
    if (looks_ || request.kind != OpKind::read) return;
    const int64_t balance = number_of(reply.value, kInitialBalance);
    if (answers_++ == 0) {
      balance_ = balance;
      return;
    }
    if (balance_ < amount_) return;
    write(integer_key(from_), stamped(balance_ - amount_));
    write(integer_key(to_), stamped(balance + amount_));
  }

 private:
  WorkloadOptions options_;
  Ranks accounts_;
  uint64_t from_ = 0, to_ = 0;
  int64_t amount_ = 0, balance_ = 0;
  int answers_ = 0;
  bool looks_ = false;
};

constexpr Anomaly kBankShows[] = {
    Anomaly::aborted_read,        Anomaly::session_guarantee_violation, Anomaly::non_monotonic_read,
    Anomaly::fractured_read,      Anomaly::causality_violation,         Anomaly::lost_update,
    Anomaly::real_time_violation,
};

}  // namespace

static Result<std::unique_ptr<Workload>> make_bank(const WorkloadOptions& options) {
  if (Status s = check_key_options(options); !s.ok()) return s.error();
  return std::unique_ptr<Workload>(std::make_unique<SessionWorkload<BankSession>>(options));
}

const WorkloadInfo kBank = {"bank", "transfers between accounts, and reads of several of them",
                            kBankShows, make_bank};

}  // namespace assay::internal::collect
