#include "infer/states_left.h"

#include <gtest/gtest.h>

#include "history/test_history.h"

namespace assay::internal {
namespace {

using sample::v;

// 0: w(x,1)   1: d(x)   2: w(x,2)   3: w(y,1)   4: r(x,2)   5: r(x,null)   6: a failed insert of x
class Left : public testing::Test {
 protected:
  static History history() {
    HistoryBuilder b;
    const Op ops[] = {Op::write(v("x"), v(1)),        Op::remove(v("x"), v(7)),
                      Op::write(v("x"), v(2)),        Op::write(v("y"), v(1)),
                      Op::read(v("x"), v(2)),         Op::read(v("x"), ValueView::null()),
                      Op::insert(v("x"), v(3), false)};
    for (const Op& op : ops) {
      b.begin_txn({.session = v(1)});
      EXPECT_TRUE(b.add(op));
      EXPECT_TRUE(b.end_txn().ok());
    }
    Result<History> built = std::move(b).finish();
    EXPECT_TRUE(built.ok());
    return std::move(built).value();
  }
  static std::vector<OpId> candidates(std::vector<OpId> readers) {
    const History h = history();
    const StatesLeft<OpId> left(h, {0, 1, 2, 3}, [&](OpId w) { return install_of(h, w).state(); });
    std::vector<Observation> seen;
    for (const OpId i : readers) seen.push_back(observation_of(h, i));
    const std::span<const OpId> found = left.candidates(h.op(0).key, seen);
    return {found.begin(), found.end()};
  }
};

TEST_F(Left, IsAllThatWasWrittenOfTheKey) {
  EXPECT_EQ(candidates({6}), (std::vector<OpId>{0, 1, 2}));
}

TEST_F(Left, OfAValueIsWhoWroteIt) {
  EXPECT_EQ(candidates({4}), (std::vector<OpId>{2}));
  EXPECT_EQ(candidates({6, 4}), (std::vector<OpId>{2}));
}

TEST_F(Left, OfNothingIsWhoLeftTheKeyAbsent) {
  EXPECT_EQ(candidates({5}), (std::vector<OpId>{1}));
  EXPECT_EQ(candidates({6, 5}), (std::vector<OpId>{1}));
}

}  // namespace
}  // namespace assay::internal
