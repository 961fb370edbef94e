// The rules of workloads that only add and read sums.
//
//   bank      transfers keep the total of all accounts, so every read of all accounts shows the
//             same total: { transfer a→b 5 }, { a 95 b 5 } [100] and { a 90 b 5 } [95] break it
//   counter   a read shows at least what certainly went before it, and at most what may have: add
//             1, add 1, then a read in the same session: 2, with a third add at the same time 2 or
//             3
//
// The total holds wherever reads see one state and no update is lost: at adya-si, at serializable
// and above. The bounds are those of an order of all transactions: of any order, of one with
// session order, or of one that respects the clock. Both rules are necessary and not sufficient: a
// rule that holds decides no level. O(n log n).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/certificate.h"
#include "history/tally.h"

namespace assay::internal {

struct TallyVerdict {
  uint64_t judged = 0;      // reads that the rule applies to
  uint64_t not_judged = 0;  // reads of some accounts only
  uint64_t wrong = 0;
  // The next members describe the first wrong read.
  std::vector<uint64_t> lines;
  std::string why;
  std::vector<LevelId> refuted;  // the weakest levels that are violated

  // The outcome of the rule; unknown: nothing was read.
  Outcome outcome() const {
    return judged == 0 ? Outcome::unknown : wrong == 0 ? Outcome::satisfied : Outcome::violated;
  }
};

std::string_view rule_of(Tally::Workload workload);  // "totals", "bounds"
TallyVerdict judge(const Tally& tally);

}  // namespace assay::internal
