#include "infer/read_lists.h"

#include <gtest/gtest.h>

#include "history/accesses.h"
#include "history/random_draft.h"
#include "infer/reads_from.h"

namespace assay::internal {
namespace {

// A list is compared with the longest that was read of its key: what is found of it must not depend
// on which others were looked at before.
TEST(ReadLists, WhatIsFoundDoesNotDependOnOtherLists) {
  Rng rng(7);
  RandomShape shape{.max_txns = 8, .max_keys = 2, .duplicates = 0.2, .lists = 1};
  int lists = 0, faults = 0, open = 0;
  for (int round = 0; round < 4000; ++round) {
    const auto drawn = random_draft(rng, shape).history();
    ASSERT_TRUE(drawn.ok());
    const History& h = *drawn;
    const Problem problem = make_problem(h);
    Budget budget;
    const Origins origins(h, 1, budget);
    if (!origins.any_lists()) continue;
    ReadLists all(h, problem, origins);
    for (const TxnId t : problem.txn)
      for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
        if (h.op(i).kind != OpKind::read_list) continue;
        const ListRead one = ReadLists(h, problem, origins).clean(t, i, h.op(i).key);
        const ListRead found = all.clean(t, i, h.op(i).key);
        ASSERT_EQ(found.kind, one.kind) << round;
        ASSERT_EQ(found.last, one.last) << round;
        ASSERT_EQ(found.bad.anomaly, one.bad.anomaly) << round;
        ASSERT_EQ(found.bad.other, one.bad.other) << round;
        ++lists;
        faults += found.kind == ListRead::Kind::bad ? 1 : 0;
        open += found.kind == ListRead::Kind::open ? 1 : 0;
      }
  }
  EXPECT_GT(lists, 10'000);
  EXPECT_GT(faults, 200);
  EXPECT_GT(open, 200);
}

}  // namespace
}  // namespace assay::internal
