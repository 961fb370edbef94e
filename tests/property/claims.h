// Every claim that anybody could make about a small history, offered to the verifier; what it
// accepts, the oracle judges.
//
// A claim is a certificate and one level. Those that are offered:
//
//   bad reads    every anomaly of two operations, every operation as the read and every one, or
//                none, as the other
//   facts        every pair of transactions, from every list and every stated order. A fact says
//                which of two versions came first; so the history is given a line that states the
//                opposite, and with it must be violated
//   cycles       up to four edges that have the right shape. What a cycle assumes of orders of
//                versions is a fact from one of the lists or stated orders; or lines are added that
//                state it, and with them the history must be violated
//   sources      what every operation saw of every key: nobody's, or one of several, each refuted
//                by a random cycle
//   aggregates   that one gives something else unless it saw some state, each of which random
//                cycles refute
//   orders       random permutations, random sources
//   exhausted    every key and every transaction
//
// A history with more than `most_cycles` cycles has that many of them drawn.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/rng.h"
#include "oracle/draft.h"

namespace assay::internal {

struct ClaimCounts {
  uint64_t offered = 0;
  uint64_t accepted = 0;
  uint64_t judged = 0;  // of the accepted ones, those on which the oracle has an opinion
};

class Claims {
 public:
  Claims(Rng& rng, uint64_t most_cycles) : rng_(rng), most_cycles_(most_cycles) {}

  // False if a false claim was accepted; `lie()` tells it.
  bool offer_all(const Draft& draft);

  const std::map<std::string, ClaimCounts>& counts() const { return counts_; }
  const std::string& lie() const { return lie_; }
  ClaimCounts total() const;

 private:
  class Offer;

  Rng& rng_;
  const uint64_t most_cycles_;
  std::map<std::string, ClaimCounts> counts_;  // by kind of claim
  std::string lie_;
};

// A small history; by its number one of registers, values written twice, lists, lists with elements
// appended twice, all operations, stated orders, loosely stated orders, single operations with
// times.
Draft claim_history(Rng& rng, uint64_t number);

}  // namespace assay::internal
