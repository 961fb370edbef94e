// Linearizability of one key when it is known which write each read returned. See zones.cc.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "infer/judgement.h"
#include "infer/problem.h"
#include "levels/operation_times.h"

namespace assay::internal {

// Keeps what all keys share.
class Zones {
 public:
  Zones(const Problem& problem, const OperationTimes& times);

  // `failed`: compare-and-set and insert of the key that did not take effect. All other operations
  // on it must be matched. Unknown: one that failed fits nowhere in the order that was found;
  // another order may do.
  Judgement decide(KeyId key, std::span<const TxnId> failed);

 private:
  const Problem& problem_;
  const OperationTimes& times_;
  std::vector<uint32_t> place_;  // per write: its place among the writes of its key
};

}  // namespace assay::internal
