// Replays an order of transactions that the database states, as Enne and Chronos do. See
// expected_order.cc.
#pragma once

#include <string>
#include <vector>

#include "assay/budget.h"
#include "assay/check.h"
#include "infer/problem.h"

namespace assay::internal {

struct ExpectedReplay {
  OrderReplay result;
  Order order;  // if it explains the history, a certificate for the level
};

struct ExpectedReplays {
  std::vector<ExpectedReplay> replays;
  std::string obstacle;  // as in ExpectedOrderResult
};

// The event models in which an order is replayed.
struct ReplayModels {
  bool single = true;  // at serializable
  bool split = true;   // at session_si, or adya_si if only sessions contradict it
  // If the order explains session_si, also at strong_si: a transaction that began after another's
  // end starts after its commit. This gives no certificate. All transactions must have begin and
  // end times.
  bool strong = false;
};

// `problem` must be one of clean reads, and gives the places of transactions that the order omits.
// If the budget runs out, that is the obstacle.
ExpectedReplays replay_expected_order(const Problem& problem, const ExpectedOrder& expected,
                                      ReplayModels models, Budget& budget);

}  // namespace assay::internal
