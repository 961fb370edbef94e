#include "explain/names.h"

#include <gtest/gtest.h>

namespace assay::internal {
namespace {

History build(HistoryBuilder& b) {
  auto h = std::move(b).finish();
  EXPECT_TRUE(h.ok());
  return std::move(h).value();
}

TEST(Names, ControlCharactersCannotReachATerminal) {
  EXPECT_EQ(display(std::string_view("a\x1b[31mb\n")), "a\\x1b[31mb\\x0a");
  EXPECT_EQ(display(std::string_view("\xC2\x9B"
                                     "31m")),
            "\\u009b31m");
  EXPECT_EQ(display(std::string_view("a\x7f~\x1f ")), "a\\u007f~\\x1f ");
}

TEST(Names, LongTextIsCutBetweenCharacters) {
  EXPECT_EQ(display(std::string_view("abcdef"), 3), "abc…");
  EXPECT_EQ(display(std::string_view("ab\xC3\xA4zz"), 3), "ab\xC3\xA4…");
  EXPECT_EQ(display(std::string_view("abc"), 3), "abc");
}

TEST(Names, OperationsReadAsInTheHistForm) {
  HistoryBuilder b;
  const auto x = ValueView::of("x"), l = ValueView::of("l");
  b.begin_txn({.session = ValueView::of(1)});
  b.add(Op::write(x, ValueView::of(1)));
  b.add(Op::read(x, ValueView::of(1)));
  b.add(Op::append(l, ValueView::of(2)));
  const std::vector<ValueView> list = {ValueView::of(2)};
  b.add(Op::read_list(l, list));
  b.add(Op::cas(x, ValueView::of(1), ValueView::of(5), false));
  b.add(Op::insert(ValueView::of("z"), ValueView::of(1), true));
  const std::vector<std::pair<ValueView, ValueView>> rows = {{x, ValueView::of(1)}};
  b.add(Op::range(ValueView::of("a"), ValueView::null(), rows));
  ASSERT_TRUE(b.end_txn().ok());
  const History h = build(b);
  EXPECT_EQ(display_ops(h, 0, {}),
            "{ w(x,1) r(x,1) a(l,2) r(l,[2]) cas(x,1,5)! ins(z,1) range(a..,[x=1]) }");
}

// Of a long row only what another row of the key has otherwise; what does not differ would hide it.
TEST(Names, ALongRowShowsTheColumnsThatDiffer) {
  HistoryBuilder b;
  const auto row = [](int on_call, std::string_view by) {
    return "{\"id\":3,\"name\":\"Amelia Anderson\",\"shift\":2,\"on_call\":" +
           std::to_string(on_call) + ",\"written_by\":\"" + std::string(by) + "\"}";
  };
  const std::string first = row(1, "0-0"), second = row(0, "1-2");
  b.begin_txn({.session = ValueView::of(1)});
  b.add(Op::write(ValueView::of("doctors:3"), ValueView::of(std::string_view(first))));
  b.add(Op::write(ValueView::of("doctors:4"), ValueView::of(std::string_view(first))));
  b.add(Op::write(ValueView::of("doctors:3"), ValueView::of(std::string_view(second))));
  ASSERT_TRUE(b.end_txn().ok());
  const History h = build(b);
  EXPECT_EQ(display_version(h, h.op(0).version), "doctors:3 = {\"on_call\":1,…}");
  EXPECT_EQ(display_version(h, h.op(2).version), "doctors:3 = {\"on_call\":0,…}");
  EXPECT_EQ(display_version(h, h.op(1).version).substr(0, 19), "doctors:4 = {\"id\":3");
}

TEST(Names, ALongTransactionShowsWhatTells) {
  HistoryBuilder b;
  b.begin_txn({.session = ValueView::of(1)});
  for (int i = 0; i < 20; ++i) b.add(Op::write(ValueView::of(i), ValueView::of(i)));
  ASSERT_TRUE(b.end_txn().ok());
  const History h = build(b);
  EXPECT_EQ(display_ops(h, 0, {3, 4, 19}), "{ … w(3,3) w(4,4) … w(19,19) }");
}

}  // namespace
}  // namespace assay::internal
