// The writes of transactions that were left out of a watched history: a read of one of these values
// is excused.
//
//   s1: { r(y,3) w(x,1) }   nothing explains y = 3: s1 is left out, with all that others see of it
//   s2: { r(x,1) w(z,2) }   long afterwards, when s1 has been forgotten; x = 1 is from nowhere, and
//                           s2 is treated as if it had not read x
//
// Without this, s2 would be left out in its turn, then each transaction that reads z = 2, and so
// on.
//
// Values are kept as hashes. If two agree, an observation of one is dropped because of the other,
// and the verifier of the chain, which compares values, refuses the segment. Memory: a hash for
// each write of a left-out transaction, and a node for each key of these; none of it is freed.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "assay/history.h"
#include "base/byte_stream.h"
#include "history/accesses.h"
#include "watch/member.h"

namespace assay::internal::watch {

class LeftOutWrites {
 public:
  void add(const Member& m);
  bool explain(const History& h, const Observation& seen) const;
  // Saves everything; to be loaded into an empty object.
  void save(StreamWriter& to) const;
  void load(StreamReader& from);

 private:
  std::unordered_map<uint64_t, std::vector<uint64_t>> values_;  // by key
};

}  // namespace assay::internal::watch
