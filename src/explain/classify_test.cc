#include "explain/classify.h"

#include <gtest/gtest.h>

#include <vector>

#include "history/test_history.h"

namespace assay::internal {
namespace {

using namespace sample;
using enum LevelId;

Step anti(TxnId reader, TxnId read_from, TxnId overwriter, KeyId key = 0) {
  Step step;
  step.edge.kind = EdgeKind::anti_dependency;
  step.edge.from = reader;
  step.edge.to = overwriter;
  step.edge.via = read_from;
  step.edge.key = key;
  return step;
}

// Of a version that both read one update is lost. Of two versions none is: each has its own reader.
TEST(Classify, AnUpdateIsLostWhereTwoReadOneVersion) {
  const History h = make_history({{1, {w("x", 1)}},
                                  {2, {w("x", 2)}},
                                  {3, {r("x", 1), w("x", 3)}},
                                  {4, {r("x", 1), w("x", 4)}}});
  EXPECT_EQ(classify({anti(2, 0, 3), anti(3, 0, 2)}, level_info(serializable), h),
            Anomaly::lost_update);
  EXPECT_EQ(classify({anti(2, 0, 3), anti(3, 1, 2)}, level_info(serializable), h),
            Anomaly::write_skew);
  EXPECT_EQ(classify({anti(2, 0, 3), anti(3, 0, 2, 1)}, level_info(serializable), h),
            Anomaly::write_skew);
}

}  // namespace
}  // namespace assay::internal
