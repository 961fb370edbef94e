#include "levels/statement_history.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "history/test_history.h"
#include "levels/walk.h"

namespace assay::internal {
namespace {

using namespace sample;

std::string text_of(const History& h, TxnId t) {
  std::string text;
  for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
    const Operation op = h.op(i);
    text += (text.empty() ? "" : " ") + std::string(op.kind == OpKind::read ? "r " : "w ") +
            h.key(op.key).to_string() + "=" + h.version_value(op.version).to_string();
  }
  return text;
}

// What is locked before a read is a key of its own, which every writer of the key writes.
TEST(StatementHistory, HasLocksAsKeys) {
  const History h = make_history({{1, {r("x", kNull), w("y", 1)}},
                                  {2, {w("y", 2), r("x", kNull), w("x", 3)}},
                                  {3, {r("x", 3), r("y", 1)}}});
  const Result<StatementHistory> statements = StatementHistory::of(h);
  ASSERT_TRUE(statements.ok());
  const History& split = statements->split();
  std::vector<std::string> parts;
  for (TxnId t = 0; t < split.txn_count(); ++t) parts.push_back(text_of(split, t));
  EXPECT_EQ(parts, (std::vector<std::string>{"r x=null", "w y'1=y'0 w y=1", "r x=null w y'1=y'1",
                                             "r y'1=y'1 w y=2 w x=3", "r x=3", "r y=1"}));
  // The reads of the third are two statements, and its commit is with the second of them.
  EXPECT_EQ(statements->in_whole(Order{.split = false, .events = {2, 0, 3, 4, 1, 5}}).events,
            (std::vector<uint32_t>{2, 2, 0, 2, 3, 4, 0, 1, 4, 5}));
}

// Sent at once, two reads are one statement, and see one state.
TEST(StatementHistory, JoinsWhatWasSentAtOnce) {
  for (const int64_t second : {5, 6}) {
    HistoryBuilder builder;
    builder.begin_txn({.session = ValueView::of(1)});
    builder.add(Op::write(ValueView::of("x"), ValueView::of(1)));
    ASSERT_TRUE(builder.end_txn().ok());
    builder.begin_txn({.session = ValueView::of(2)});
    builder.add({.key = ValueView::of("x"), .time = Interval::point(5)});
    builder.add(
        {.key = ValueView::of("x"), .value = ValueView::of(1), .time = Interval::point(second)});
    ASSERT_TRUE(builder.end_txn().ok());
    const Result<History> h = std::move(builder).finish();
    ASSERT_TRUE(h.ok());
    CheckOptions options;
    options.levels = {LevelId::statement_snapshot};
    const CheckResult result = decide_levels(*h, options);
    EXPECT_EQ(result.verdicts.front().outcome,
              second == 5 ? Outcome::violated : Outcome::satisfied);
  }
}

}  // namespace
}  // namespace assay::internal
