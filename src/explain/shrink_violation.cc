#include "explain/shrink_violation.h"

#include <algorithm>

#include "assay/verify.h"
#include "explain/explain.h"
#include "levels/walk.h"

namespace assay::internal {
namespace {

// A part of more transactions is not explained: that may take longer than checking it.
constexpr uint32_t kSmall = 60;

bool is_of_two_operations(Anomaly anomaly) {
  switch (anomaly) {
    case Anomaly::thin_air_read:
    case Anomaly::aborted_read:
    case Anomaly::future_read:
    case Anomaly::not_my_last_write:
    case Anomaly::not_my_own_write:
    case Anomaly::intermediate_read:
    case Anomaly::non_repeatable_read:
    case Anomaly::result_set_mismatch:
      return true;
    default:
      return false;
  }
}

class SameFault {
 public:
  SameFault(LevelId level, Anomaly anomaly, CheckOptions checking)
      : level_(level), anomaly_(anomaly), checking_(std::move(checking)) {
    checking_.levels = {level};
    checking_.progress = nullptr;
  }

  // The names of cycles may differ, for what cannot be made small with its own.
  void allow_other_names() { exact_ = false; }

  bool operator()(const History& h) const {
    const CheckResult result = decide_levels(h, checking_);
    const Verdict* verdict = result.find(level_);
    if (verdict == nullptr || verdict->outcome != Outcome::violated) return false;
    const Certificate& reason = result.certificates[verdict->certificate];
    if (!verify(reason, h).ok()) return false;
    const bool two_operations = is_of_two_operations(anomaly_);
    // What two operations show is told as what it is at the weakest level, which may have another name.
    const bool by_two_operations = reason.kind == Certificate::Kind::bad_read;
    if (!by_two_operations && !two_operations && h.txn_count() > kSmall) return true;
    const std::vector<Explanation> explained = explain(h, result);
    const Explanation* found = find_explanation(explained, level_);
    if (found == nullptr) return false;
    if (by_two_operations || two_operations || exact_) return found->anomaly == anomaly_;
    return !is_of_two_operations(found->anomaly);
  }

 private:
  const LevelId level_;
  const Anomaly anomaly_;
  CheckOptions checking_;
  bool exact_ = true;
};

}  // namespace

Result<Shrunk> shrink_violation(const History& history, LevelId level, Anomaly anomaly,
                                CheckOptions checking, const ShrinkOptions& options) {
  SameFault same(level, anomaly, std::move(checking));
  Result<Shrunk> small = shrink(history, same, options);
  if (small.ok() && small->history.txn_count() <= kSmall) return small;
  same.allow_other_names();
  if (!small.ok()) return shrink(history, same, options);
  ShrinkOptions rest = options;
  rest.suspects.clear();
  Result<Shrunk> smaller = shrink(small->history, same, rest);
  if (!smaller.ok()) return small;
  smaller->tries += small->tries;
  return smaller;
}

}  // namespace assay::internal
