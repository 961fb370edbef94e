#include "levels/shares.h"

#include <algorithm>
#include <utility>

namespace assay::internal {

Allowance Shares::share_of(LevelId level) {
  constexpr uint64_t kOfPasses = 4;
  if (!parts_) divide();
  if (rest_) return parts_->all;
  if (passes_) return parts_->all / kOfPasses;
  if (lattice_.serves_request(level)) return parts_->asked;
  return std::exchange(any_other_, true) ? parts_->other : parts_->first_other;
}

void Shares::divide() {
  uint64_t asked = 0, other = 0;
  for (const LevelInfo& level : all_levels())
    if (level.walk.decide != 0 && lattice_.useful(level.id) && !lattice_.is_decided(level.id))
      ++(lattice_.serves_request(level.id) ? asked : other);
  const Allowance all = budget_.left();
  parts_ = {all / (2 * std::max<uint64_t>(1, asked)), all / 8,
            all / (8 * std::max<uint64_t>(2, other) - 8), all};
  any_other_ = false;
  rest_ = false;
}

// Memory is not shared out.
void Shares::give_back(LevelId level, Budget whole) {
  const std::optional<UnknownCause> cause = budget_.cause();
  if (cause == UnknownCause::memory) return;
  whole.spend(budget_.spent() - whole.spent());
  budget_ = whole;
  if (cause && !rest_) ran_out_.push_back(level);
}

void Shares::give_rest() {
  for (const LevelId level : ran_out_) lattice_.set_searched(level, false);
  ran_out_.clear();
  rest_ = true;
}

}  // namespace assay::internal
