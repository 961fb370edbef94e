#include "explain/shrink.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "explain/names.h"

namespace assay::internal {
namespace {

const ValueView x = ValueView::of("x"), y = ValueView::of("y");

ValueView v(int64_t i) { return ValueView::of(i); }

History finish(HistoryBuilder& b) {
  auto h = std::move(b).finish();
  EXPECT_TRUE(h.ok());
  return std::move(h).value();
}

std::string shown(const History& h) {
  std::string out;
  for (TxnId t = 0; t < h.txn_count(); ++t) out += h.name(t) + display_ops(h, t, {}) + " ";
  return out;
}

// Two transactions that read x = 1 and overwrite it, among many others.
History lost_update(int others) {
  HistoryBuilder b;
  for (int i = 0; i < others; ++i) {
    const std::string key = "k" + std::to_string(i % 5);  // lives until end_txn
    b.begin_txn({.session = v(9)});
    b.add(Op::read(ValueView::of(key), i < 5 ? ValueView::null() : v(i - 5)));
    b.add(Op::write(ValueView::of(key), v(i)));
    EXPECT_TRUE(b.end_txn().ok());
  }
  b.begin_txn({.session = v(1), .name = "writer"});
  b.add(Op::write(y, v(1)));
  b.add(Op::write(x, v(1)));
  EXPECT_TRUE(b.end_txn().ok());
  for (const int64_t i : {2, 3}) {
    b.begin_txn({.session = v(i)});
    b.add(Op::read(y, v(1)));
    b.add(Op::read(x, v(1)));
    b.add(Op::write(x, v(i)));
    EXPECT_TRUE(b.end_txn().ok());
  }
  return finish(b);
}

// Two transactions read one version of a key that somebody wrote, and overwrite it.
bool shows_lost_update(const History& h) {
  std::set<VersionId> written, updated;
  for (TxnId t = 0; t < h.txn_count(); ++t)
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i)
      if (h.op(i).kind == OpKind::write) written.insert(h.op(i).version);
  for (TxnId t = 0; t < h.txn_count(); ++t)
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i)
      for (OpId j = i + 1; j < h.end_op(t); ++j)
        if (h.op(i).kind == OpKind::read && h.op(j).kind == OpKind::write &&
            h.op(i).key == h.op(j).key && written.contains(h.op(i).version) &&
            !updated.insert(h.op(i).version).second)
          return true;
  return false;
}

TEST(Shrink, FindsTheThreeTransactions) {
  const History h = lost_update(200);
  const auto small = shrink(h, shows_lost_update, {});
  ASSERT_TRUE(small.ok());
  EXPECT_EQ(shown(small->history), "writer{ w(x,1) } 2-0{ r(x,1) w(x,2) } 3-0{ r(x,1) w(x,3) } ");
  EXPECT_TRUE(small->complete);
}

TEST(Shrink, SuspectsSaveWork) {
  const History h = lost_update(2000);
  ShrinkOptions options;
  options.suspects = {2001, 2002};
  const auto small = shrink(h, shows_lost_update, options);
  ASSERT_TRUE(small.ok());
  EXPECT_EQ(small->history.op_count(), 5u);
  EXPECT_LT(small->tries, 60u);
}

TEST(Shrink, RefusesWhatDoesNotShow) {
  const History h = lost_update(3);
  const auto small = shrink(h, [](const History&) { return false; }, {});
  ASSERT_FALSE(small.ok());
  EXPECT_EQ(small.error().kind, ErrorKind::usage);
}

}  // namespace
}  // namespace assay::internal
