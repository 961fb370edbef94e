#include "infer/places.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "history/test_history.h"
#include "infer/order_faults.h"

namespace assay::internal {
namespace {

using sample::r;
using sample::w;

// Transactions one after the other, each of which reads and writes some keys; in a random order,
// each in a session of its own.
std::vector<sample::Txn> shuffled_serial_run(Rng& rng) {
  constexpr int64_t kTxns = 400, kKeys = 40;
  std::vector<sample::Value> now(kKeys, sample::kNull);
  std::vector<sample::Txn> txns;
  for (int64_t t = 0; t < kTxns; ++t) {
    std::vector<sample::SampleOp> ops;
    for (int i = 0; i < 3; ++i) {
      const auto key = static_cast<size_t>(rng.below(kKeys));
      ops.push_back(r("k" + std::to_string(key), now[key]));
    }
    for (int i = 0; i < 3; ++i) {
      const auto key = static_cast<size_t>(rng.below(kKeys));
      now[key] = 10 * t + i;
      ops.push_back(w("k" + std::to_string(key), now[key]));
    }
    txns.push_back({t + 1, ops});
  }
  for (size_t i = txns.size(); i > 1; --i) std::swap(txns[i - 1], txns[rng.below(i)]);
  return txns;
}

TEST(Places, FewVersionsOfAKeyOverlapInTheOrderFound) {
  Rng rng(5);
  for (const LevelId level : {LevelId::session_si, LevelId::serializable}) {
    const History history = sample::make_history(shuffled_serial_run(rng));
    const Problem problem = make_problem(history);
    EXPECT_TRUE(problem.hint.by_reads);
    const EventGraph events(problem, level_info(level));
    const std::vector<Vertex> order = topological_order(events.graph());
    const std::vector<Vertex> found = order_by_places(events, order);
    ASSERT_EQ(found.size(), order.size());
    std::vector<uint32_t> place(found.size());
    for (uint32_t i = 0; i < found.size(); ++i) place[found[i]] = i;
    for (const Vertex v : found) {
      events.graph().each_out(v, [&](Vertex after) {
        EXPECT_LT(place[v], place[after]);
        return true;
      });
    }
    OrderFaults faults(events, nullptr);
    EXPECT_LT(3 * faults.find(found).size(), faults.find(order).size());
  }
}

}  // namespace
}  // namespace assay::internal
