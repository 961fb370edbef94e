#include "history/accesses.h"

#include <gtest/gtest.h>

#include <array>
#include <string_view>
#include <utility>

#include "history/test_history.h"

namespace assay::internal {
namespace {

using sample::d, sample::ins, sample::kNull, sample::make_history, sample::r, sample::w;

using sample::v;

History finish(HistoryBuilder&& builder) {
  EXPECT_TRUE(builder.end_txn().ok());
  Result<History> history = std::move(builder).finish();
  EXPECT_TRUE(history.ok());
  return std::move(history).value();
}

Accepts accepts(const History& h, OpId i) { return observation_of(h, i).accepts; }

TEST(Accesses, whatEachOperationObserves) {
  const History h =
      make_history({{1,
                     {r("x", 1), sample::cas("x", 1, 2, true), sample::cas("x", 1, 3, false),
                      ins("y", 4, true), ins("y", 5, false), w("x", 6), d("x", 7)}}});
  EXPECT_EQ(accepts(h, 0), Accepts::equals);
  EXPECT_EQ(accepts(h, 1), Accepts::equals);
  EXPECT_EQ(accepts(h, 2), Accepts::differs);
  EXPECT_EQ(accepts(h, 3), Accepts::absent);
  EXPECT_EQ(accepts(h, 4), Accepts::present);
  EXPECT_EQ(accepts(h, 5), Accepts::any);
  EXPECT_EQ(accepts(h, 6), Accepts::any);
  for (const OpId expecting : {1u, 2u}) {  // what it expected, not what it would write
    EXPECT_EQ(observation_of(h, expecting).version, h.op(0).version);
    EXPECT_EQ(observation_of(h, expecting).key, h.op(0).key);
  }
}

TEST(Accesses, whatEachStateExplains) {
  const History h = make_history({{1, {w("x", 1), w("x", kNull), d("x", 9)}},
                                  {2,
                                   {r("x", 1), r("x", kNull), sample::cas("x", 1, 2, false),
                                    ins("x", 3, true), ins("x", 3, false)}}});
  const KeyState initial, one = install_of(h, 0).state(), null = install_of(h, 1).state(),
                          deleted = install_of(h, 2).state();
  // read of 1, read of null, failed compare with 1, insert, failed insert
  const auto explains = [&](const KeyState& state) {
    std::string fitting;
    for (OpId i = 3; i < 8; ++i) fitting += fits(h, observation_of(h, i), state) ? 'y' : 'n';
    return fitting;
  };
  EXPECT_EQ(explains(initial), "nyyyn");
  EXPECT_EQ(explains(one), "ynnny");
  EXPECT_EQ(explains(null), "nyyyn");
  EXPECT_EQ(explains(deleted), "nyyyn");
  EXPECT_TRUE(fits(h, observation_of(h, 0), one));  // a write observes nothing
}

TEST(Accesses, theInitialValueMayBeThere) {
  HistoryBuilder b;
  b.set_initial(v(0));
  b.begin_txn({.session = v(1)});
  b.add(Op::read(v("x"), v(0)));
  b.add(Op::read(v("x"), ValueView::null()));
  b.add(Op::insert(v("x"), v(1), false));
  const History h = finish(std::move(b));
  EXPECT_TRUE(fits(h, observation_of(h, 0), KeyState{}));
  EXPECT_FALSE(fits(h, observation_of(h, 1), KeyState{}));
  EXPECT_TRUE(fits(h, observation_of(h, 2), KeyState{}));
}

TEST(Accesses, whatEachOperationInstalls) {
  HistoryBuilder b;
  b.begin_txn({.session = v(1)});
  b.add(Op::write(v("x"), v(1)));
  b.add(Op::remove(v("x"), v(2)));
  b.add(Op::append(v("l"), v(3)));
  b.add(Op::cas(v("x"), v(2), v(4), false));
  const History h = finish(std::move(b));
  EXPECT_FALSE(install_of(h, 0).removes || install_of(h, 0).appends);
  EXPECT_TRUE(install_of(h, 1).removes && install_of(h, 1).state().removed);
  EXPECT_TRUE(install_of(h, 2).appends);
  EXPECT_FALSE(install_of(h, 3).removes || install_of(h, 3).appends);
}

TEST(Accesses, aWalkTellsOwnWritesAndWhichAreFinal) {
  const History h = make_history({{1, {w("y", 9)}},
                                  {1,
                                   {r("x", kNull), w("x", 1), r("x", 1), r("y", 9),
                                    sample::cas("x", 5, 6, false), w("x", 2)}}});
  WrittenKeys written;
  std::vector<std::pair<OpId, bool>> looks;
  std::vector<std::pair<OpId, bool>> puts;  // whether the key was written before
  walk_accesses(
      h, 1, written, [&](const Observation& seen) { looks.emplace_back(seen.op, seen.own); },
      [&](const Install& put) { puts.emplace_back(put.op, written.contains(put.key)); });
  EXPECT_EQ(looks,
            (std::vector<std::pair<OpId, bool>>{{1, false}, {3, true}, {4, false}, {5, true}}));
  EXPECT_EQ(puts, (std::vector<std::pair<OpId, bool>>{{2, false}, {6, true}}));
  puts.clear();
  each_install(h, 1, written, [&](const Install& put) { puts.emplace_back(put.op, put.final); });
  EXPECT_EQ(puts, (std::vector<std::pair<OpId, bool>>{{6, true}, {2, false}}));
}

TEST(Accesses, aRangeSaysOfEachKeyItCoversWhatItHeld) {
  HistoryBuilder b;
  b.begin_txn({.session = v(1)});
  for (const char* key : {"a", "b", "c", "d"}) b.add(Op::write(v(key), v(1)));
  const std::array<std::pair<ValueView, ValueView>, 1> one{{{v("b"), v(1)}}};
  const std::array<std::pair<ValueView, ValueView>, 4> wrong{
      {{v("b"), v(1)}, {v("d"), v(1)}, {v("c"), v(1)}, {v("c"), v(2)}}};
  b.add(Op::range(v("b"), v("c"), one));
  b.add(Op::range(v("b"), v("c"), wrong));
  b.add(Op::range(ValueView::null(), v("b"), one));
  const History h = finish(std::move(b));
  const KeyId key_a = h.op(0).key, key_b = h.op(1).key, key_c = h.op(2).key;
  const auto kinds = [&](OpId range, const std::vector<KeyId>& keys) {
    std::vector<Accepts> out;
    for (const Observation& seen : observations_of_range(h, range, keys)) {
      EXPECT_EQ(seen.op, range);
      out.push_back(seen.accepts);
    }
    return out;
  };
  EXPECT_EQ(accepts(h, 4), Accepts::rows);
  EXPECT_EQ(observation_of(h, 4).key, kNone);
  EXPECT_EQ(bounds_of(h, 6).from, kNone);
  EXPECT_EQ(bounds_of(h, 6).to, key_b);
  EXPECT_EQ(rows_of(h, 4).size(), 1u);
  using enum Accepts;
  EXPECT_EQ(kinds(4, {key_b, key_c}), (std::vector<Accepts>{equals, absent}));
  // c twice, and d outside of the bounds
  EXPECT_EQ(kinds(5, {key_b, key_c}), (std::vector<Accepts>{equals, nothing, nothing}));
  EXPECT_EQ(kinds(6, {key_a, key_b}), (std::vector<Accepts>{absent, equals}));
}

TEST(Accesses, aListIsReadWithoutTheOwnElements) {
  const std::array<ValueView, 3> all{v(1), v(2), v(3)};
  HistoryBuilder b;
  b.begin_txn({.session = v(1)});
  b.add(Op::append(v("l"), v(2)));
  b.add(Op::append(v("other"), v(7)));
  b.add(Op::append(v("l"), v(3)));
  b.add(Op::read_list(v("l"), all));
  b.add(Op::read_list(v("l"), std::span(all).first(2)));
  b.add(Op::read_list(v("l"), std::span(all).subspan(2)));
  const History h = finish(std::move(b));
  const OutsideList right = outside_list(h, 3);
  EXPECT_EQ(right.missing, kNone);
  ASSERT_EQ(right.elements.size(), 1u);
  EXPECT_EQ(h.version_value(right.elements[0]), v(1));
  EXPECT_EQ(outside_list(h, 4).missing, 2u);
  EXPECT_EQ(outside_list(h, 5).missing, 0u);
}

}  // namespace
}  // namespace assay::internal
