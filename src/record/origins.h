// Which statement of a transaction made which change that the log has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "record/seen.h"

namespace assay::internal::record {

struct Origins {
  // Of each change the place of its statement in the transaction. Empty: not known for all of them.
  std::vector<size_t> statements;
  std::vector<bool> depends;  // of each change: on the version that it replaced
};

Origins origins_of(const SeenTxn& txn, const LoggedChanges& logged);

}  // namespace assay::internal::record
