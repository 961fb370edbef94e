#include "infer/read_lists.h"

#include <gtest/gtest.h>

#include "history/accesses.h"
#include "infer/reads_from.h"
#include "oracle/random_draft.h"

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

// Others read this list before, and it was sound for them.
TEST(ReadLists, AnElementThatItsReaderAppendsLaterIsAFault) {
  const ValueView l = ValueView::of("l");
  const ValueView all[] = {ValueView::of(1), ValueView::of(2), ValueView::of(3)};
  HistoryBuilder builder;
  const auto run = [&](int64_t session, std::initializer_list<Op> ops) {
    builder.begin_txn({.session = ValueView::of(session)});
    for (const Op& op : ops) builder.add(op);
    ASSERT_TRUE(builder.end_txn().ok());
  };
  run(1, {Op::append(l, all[0])});
  run(2, {Op::append(l, all[2])});
  run(3, {Op::read_list(l, all)});
  run(4, {Op::read_list(l, all), Op::append(l, all[1])});
  const auto h = std::move(builder).finish();
  ASSERT_TRUE(h.ok());
  const Problem problem = make_problem(*h);
  Budget budget;
  const Origins origins(*h, 1, budget);
  ReadLists lists(*h, problem, origins);
  EXPECT_EQ(lists.clean(2, 2, h->op(2).key).kind, ListRead::Kind::read);
  EXPECT_EQ(lists.clean(3, 3, h->op(3).key).bad.anomaly, Anomaly::future_read);
}

}  // namespace
}  // namespace assay::internal
