// Linearizability of one key if it is known which write each read returned. See zones.cc.
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

  // `failed`: the compare-and-sets and inserts of the key that did not take effect. All other
  // operations on it must be matched. Unknown: a failed one fits nowhere in the order that was
  // found; another order may do.
  Judgement decide(KeyId key, std::span<const TxnId> failed);

 private:
  const Problem& problem_;
  const OperationTimes& times_;
  std::vector<uint32_t> place_;  // indexed by write: its place among the writes of its key
};

}  // namespace assay::internal
