#include "history/held_value.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace assay::internal {
namespace {

const std::string kLong(1000, 'x');

std::vector<ValueView> samples() {
  return {ValueView::null(),        ValueView::of(int64_t{-7}), ValueView::of(std::string_view()),
          ValueView::of("a\0b"),    ValueView::of(kLong),       ValueView::row(R"({"a":1})"),
          ValueView::of(int64_t{0})};
}

TEST(HeldValue, IsWhatItWasMadeOf) {
  for (const ValueView& v : samples()) EXPECT_EQ(HeldValue(v).view(), v);
}

TEST(HeldValue, OutlivesTheText) {
  std::string text = "here";
  const HeldValue held(ValueView::of(std::string_view(text)));
  text = "gone";
  EXPECT_EQ(held.view(), ValueView::of("here"));
}

TEST(HeldValue, IsCopiedMovedAndAssigned) {
  for (const ValueView& from : samples()) {
    for (const ValueView& to : samples()) {
      HeldValue a(from), b(to);
      const HeldValue copy(a);
      b = a;
      EXPECT_EQ(b.view(), from);
      EXPECT_EQ(a.view(), from);
      HeldValue c(to);
      c = std::move(a);
      EXPECT_EQ(c.view(), from);
      EXPECT_EQ(copy.view(), from);
      const HeldValue d(std::move(c));
      EXPECT_EQ(d.view(), from);
      EXPECT_TRUE(c.view().is_null());  // NOLINT(bugprone-use-after-move): so it is promised
      HeldValue& self = b;
      b = self;
      EXPECT_EQ(b.view(), from);
    }
  }
}

}  // namespace
}  // namespace assay::internal
