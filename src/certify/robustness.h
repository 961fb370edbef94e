// Why programs hold at their isolations: the certificate of a prediction that nothing can go wrong
// (docs/predicting.md).
//
// If any execution of recorded transactions is not serializable, then there is one in which a
// single transaction is cut in two, and others run in the gap, whole and one after the other, each
// in conflict with the next: the first changes what the one that is cut has read, and the last
// closes the cycle. So a program holds if no cut of any of its transactions leads to that, and for
// each cut the certificate says why:
//
//   empty          no transaction may begin the gap
//   nobody-closes  no transaction may end it
//   apart          the transactions listed are all that conflicts connect to those that may begin,
//                  and none of them may end it
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "assay/history.h"
#include "certify/schedule.h"

namespace assay::internal::certify {

// For a cut transaction at ssi: whether the first in the gap is below ssi, or is at ssi, and then
// the last is below. For others: any.
enum class Ends : uint8_t { any, below_ssi_first, below_ssi_last };
enum class Because : uint8_t { empty, nobody_closes, apart };

struct Uncut {
  uint32_t after = 0;  // the number of steps
  Ends ends = Ends::any;
  Because because = Because::empty;
  std::vector<TxnId> reached = {};  // used for `apart`
  friend auto operator<=>(const Uncut&, const Uncut&) = default;
};

struct Robustness {
  struct Program {
    std::string name;  // empty: the history does not say what ran
    Isolation isolation = Isolation::read_committed;
    bool holds = false;
  };
  // Transactions about which the same is said.
  struct Transactions {
    std::vector<TxnId> txns;
    std::vector<Uncut> cuts;
  };
  std::vector<Program> programs;  // all programs that ran
  // All transactions of the programs that hold, including failed attempts.
  std::vector<Transactions> transactions;
};

}  // namespace assay::internal::certify
