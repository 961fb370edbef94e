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

// What shows the order of the two writes may be a proof, as where only the clock does.
TEST(Classify, AnUpdateIsLostWhateverShowsTheOrderOfTheWrites) {
  const History h = make_history({{1, {r("x", kNull), w("x", 1)}}, {2, {w("x", 2)}}});
  Step write;
  write.edge.kind = EdgeKind::write_dependency;
  write.edge.from = 1;
  write.edge.to = 0;
  write.edge.key = 0;
  write.because = Step::Because::proof;
  EXPECT_EQ(classify({anti(0, kNone, 1), write}, level_info(strict_serializable), h),
            Anomaly::lost_update);
}

}  // namespace
}  // namespace assay::internal
