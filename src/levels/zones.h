// Linearizability of one key when it is known which write each read returned. See zones.cc.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assay/certificate.h"
#include "infer/problem.h"
#include "levels/operation_times.h"

namespace assay::internal {

struct ZoneResult {
  // open: a failed compare-and-set or insert fits nowhere in the order that was found; another
  // order may do.
  enum class Kind : uint8_t { ordered, refuted, open };
  Kind kind = Kind::open;
  std::vector<TxnId> sequence;  // ordered
  Proof proof;                  // refuted
};

// Keeps what all keys share.
class Zones {
 public:
  Zones(const Problem& problem, const OperationTimes& times);

  // `failed`: compare-and-set and insert of the key that did not take effect. All other operations
  // on it must be matched.
  ZoneResult decide(KeyId key, std::span<const TxnId> failed);

 private:
  const Problem& problem_;
  const OperationTimes& times_;
  std::vector<uint32_t> place_;  // per write: its place among the writes of its key
};

}  // namespace assay::internal
