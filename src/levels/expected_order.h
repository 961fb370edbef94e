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
  Order order;  // if it explains the history: a certificate of the level
};

struct ExpectedReplays {
  std::vector<ExpectedReplay> replays;
  std::string obstacle;  // as in ExpectedOrderResult
};

// Which models of events an order is replayed in.
struct ReplayModels {
  bool single = true;  // serializable
  bool split = true;   // session_si, or adya_si if only sessions contradict that
  // Where session_si is explained, as strong_si too that nothing starts before the commit of what
  // had ended before it began. It is no certificate of the level. All have begin and end times.
  bool strong = false;
};

// `problem` is of clean reads, and gives the places of transactions that the order omits. If the
// budget runs out that is the obstacle.
ExpectedReplays replay_expected_order(const Problem& problem, const ExpectedOrder& expected,
                                      ReplayModels models, Budget& budget);

}  // namespace assay::internal
