// Histories whose values do not identify their writers: transactions add to accounts and read the
// accounts' balances. Jepsen's workloads bank (a transfer adds to two accounts) and counter are of
// this kind. No read names its writer, so the engine for levels has nothing to work on;
// levels/tally_rules.h describes what can be decided.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "assay/history.h"

namespace assay::internal {

using AccountId = uint32_t;

struct TallyTxn {
  int64_t session = 0;
  TxnStatus status = TxnStatus::committed;
  Interval begin{}, end{};
  uint64_t line = 0;  // the line of its first record
  std::vector<std::pair<AccountId, int64_t>> adds;
  std::vector<std::pair<AccountId, int64_t>> reads;
};

struct Tally {
  enum class Workload : uint8_t { bank, counter };
  Workload workload = Workload::counter;
  std::vector<std::string> accounts;
  std::vector<TallyTxn> txns;  // of one session, in its order
};

}  // namespace assay::internal
