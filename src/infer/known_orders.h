// What the lines {"key":…,"order":[…]} of a history say: which transactions they name, and where
// they contradict themselves or the rest of the history. See docs/formats/assay.md.
//
//   order x: 1 2        s1: { w(x,1) }?   s2: { w(x,2) }      s1 took effect, before s2
//   order x: 1 9                                              9 was never written: a contradiction
//   order x: 1 2        order x: 2 1                          a contradiction
//
// An entry names a version by its value, and perhaps its transaction. If several transactions wrote
// the value, a value alone names none of them, and the entry says nothing. A version that is named
// was installed, so its transaction took effect. If the history says that its orders hold
// everything up to some time, a transaction that was acknowledged before and is missing from them
// is a contradiction, a lost commit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/history.h"

namespace assay::internal {

struct KnownOrders {
  // Per line of History::known_orders and per entry the transaction whose version is meant; kNone
  // if the entry says nothing. If a key's lines put two versions in opposite orders, none of its
  // entries says anything.
  std::vector<std::vector<TxnId>> named;
  // The first contradiction, as a sentence; empty if there is none.
  std::string contradiction;
  uint64_t ambiguous = 0;  // entries that say nothing because several transactions wrote the value
};

// The counter of CheckResult that holds KnownOrders::ambiguous.
inline constexpr std::string_view kAmbiguousEntries = "ambiguous entries of stated orders";

KnownOrders read_known_orders(const History& history);

}  // namespace assay::internal
