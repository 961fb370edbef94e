#include "explain/statements_needed.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "assay/verify.h"
#include "explain/witness.h"
#include "levels/walk.h"

namespace assay::internal {

void tell_statements_needed(const History& h, const Accesses& accesses, Explanation& e) {
  if (!h.states_versions()) return;
  e.need_statements = e.levels;
  std::optional<Witness> witness = Witness::of(accesses, e.transactions);
  if (!witness) return;
  History seen = std::move(*witness).take_history();
  seen.keep_stated_orders(0);
  seen.forget_stated_sources();
  CheckOptions options = within_effort();
  options.levels = e.levels;
  const CheckResult decided = decide_levels(seen, options);
  std::erase_if(e.need_statements, [&](LevelId level) {
    const Verdict* v = decided.find(level);
    return v != nullptr && v->outcome == Outcome::violated &&
           verify(decided.certificates[v->certificate], seen).ok();
  });
}

}  // namespace assay::internal
