// Mini-transactions: one or two reads, at most two writes, every write preceded by a read of the
// same key. Since each version then shows which version it replaced, histories of them are checked
// in linear time, and each of the fourteen anomalies shows in them. Source: the mini-transactions
// of the MTC paper (Wei et al., 2025), which has 20 shapes, apart from the names of the two keys.
#include <memory>
#include <string_view>
#include <vector>

#include "collect/workloads/integer_keys.h"
#include "collect/workloads/registry.h"
#include "collect/workloads/session_workload.h"
#include "history/mini_transactions.h"

namespace assay::internal::collect {
namespace {

using Shapes = std::vector<std::string_view>;

// Each group is equally likely, and so is each shape of a group; the last group holds the shapes
// that only anomalies within one transaction need.
std::vector<Shapes> shape_groups() {
  std::vector<Shapes> groups = {
      {"rx", "rxry"}, {"rxwx"}, {"rxrywx", "rxrywy"}, {"rxrywxwy", "rxrywywx", "rxwxrywy"}};
  Shapes rest(mini_shapes().begin(), mini_shapes().end());
  for (const Shapes& group : groups)
    for (const std::string_view shape : group) std::erase(rest, shape);
  groups.push_back(std::move(rest));
  return groups;
}

class MiniSession : public WorkloadSession, public IntegerRegisters {
 public:
  MiniSession(const WorkloadOptions& options, Rng rng, WrittenValues values, SessionSeat seat)
      : keys_(options, seat), rng_(rng), values_(values) {}

  void start(bool retry) override {
    at_ = 0;
    if (retry) return;
    static const std::vector<Shapes> groups = shape_groups();
    const Shapes& group = groups[rng_.below(groups.size())];
    shape_ = group[rng_.below(group.size())];
    keys_.next_transaction();
    x_ = keys_.draw(rng_);
    y_ = keys_.draw(rng_);
    if (x_ == y_) y_ = keys_.beside(x_);
  }

  bool next(const Reply*, Request& request) override {
    if (at_ == shape_.size()) return false;
    const bool read = shape_[at_] == 'r';
    const uint64_t key = shape_[at_ + 1] == 'x' ? x_ : y_;
    at_ += 2;
    request.kind = read ? OpKind::read : OpKind::write;
    request.key = Value::of(static_cast<int64_t>(key));
    request.value = read ? Value() : values_.take();
    return true;
  }
  bool ignores_replies() const override { return true; }

 private:
  DrawnKeys keys_;
  Rng rng_;
  WrittenValues values_;
  std::string_view shape_;
  uint64_t x_ = 0;
  uint64_t y_ = 0;
  size_t at_ = 0;
};

}  // namespace

static Result<std::unique_ptr<Workload>> make_mini(const WorkloadOptions& options) {
  if (Status s = check_key_options(options); !s.ok()) return s.error();
  return std::unique_ptr<Workload>(std::make_unique<SessionWorkload<MiniSession>>(options));
}

const WorkloadInfo kMini = {
    "mini",
    "mini-transactions: at most two reads and two writes, each write after a read of its key",
    kShownByRegisters, make_mini};

}  // namespace assay::internal::collect
