// Causal consistency without clocks, for histories with many short sessions: did a reader see a writer of its key that
// stands between its source and itself in the commit order?
//
//   s1: A { w(x,1) }   s2: B { w(x,2) w(y,1) }   s3: C { r(y,1) r(x,1) }      order A B C: C saw B, and reads x from A
//
// All such pairs are listed, and 256 transactions that are neighbours in the order are looked at together: of each later
// transaction one bit for each of them says whether it saw it, directly or through others. A pass ends at the last
// reader that a pair asks for. Cost: operations × the transactions between the ends of pairs / 256. Memory: 32 bytes
// a transaction, and a bounded number of pairs.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "assay/history.h"
#include "assay/result.h"
#include "certify/commit_order.h"
#include "certify/weak_order_verifier.h"

namespace assay::internal::certify {

class SeenWriters {
 public:
  SeenWriters(const History& history, const CommitOrder& order);

  // Refuses the order if one of these readers saw such a writer.
  Status check(Readers readers = {});

 private:
  static constexpr Place kBlock = 256;
  static constexpr size_t kPairs = size_t{1} << 20;  // listed at a time
  using Seen = std::array<uint64_t, kBlock / 64>;
  struct Pair {
    Place writer, reader, from;
    KeyId key;
  };

  Status check_pairs();
  Status pass(const Pair* begin, const Pair* end);
  void note_seen(Place p, Place first, Place other);

  const History& history_;
  const CommitOrder& order_;
  std::vector<Place>
      previous_;  // per place: the last of its session that certainly committed; 0: none
  std::vector<std::vector<Place>> writers_;  // per key, in the order
  std::vector<Seen> seen_;                   // per place, of the block that is looked at
  std::vector<Pair> pairs_;
};

}  // namespace assay::internal::certify
