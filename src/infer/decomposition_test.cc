#include "infer/decomposition.h"

#include <gtest/gtest.h>

#include "history/test_history.h"
#include "infer/projection.h"
#include "infer/stated_orders.h"

namespace assay::internal {
namespace {

using namespace sample;
using enum LevelId;

// The example of decomposition.cc, and a session of its own.
History sessions_in_a_row() {
  return make_history({{1, {w("x", 1), w("y", 1)}},
                       {2, {r("x", 1)}},
                       {3, {r("y", 1), w("z", 1)}},
                       {4, {r("z", 1)}},
                       {5, {w("own", 1)}}});
}

size_t parts_of(const History& h, LevelId level) {
  return decompose(h, match_reads(h), level_info(level)).size();
}

TEST(Decomposition, BlocksWhereSessionsCountComponentsElsewhere) {
  const History h = sessions_in_a_row();
  EXPECT_EQ(parts_of(h, session_si), 4u);
  EXPECT_EQ(parts_of(h, prefix), 4u);
  EXPECT_EQ(parts_of(h, serializable), 2u);
  EXPECT_EQ(parts_of(h, strict_serializable), 2u);
  EXPECT_EQ(parts_of(h, strong_si), 0u);
}

TEST(Decomposition, OneLargePartIsLeftWhole) {
  std::vector<Txn> txns(1, {1, {w("apart", 1)}});
  for (int64_t i = 0; i < 30; ++i) txns.push_back({2 + i % 3, {w("x", i)}});
  const History h = make_history(txns);
  EXPECT_EQ(parts_of(h, session_si), 0u);
  EXPECT_EQ(parts_of(h, adya_si), 0u);
}

TEST(Decomposition, AProjectionHasWhatThePartHas) {
  const History h = sessions_in_a_row();
  const ReadsFrom rf = match_reads(h);
  const std::vector<Part> parts = decompose(h, rf, level_info(session_si));
  const Hint hint = make_hint(h, rf);
  Projector projector(rf, hint);
  size_t writes = 0, reads = 0;
  for (const Part& part : parts) {
    const Projection p = projector.project(h, part);
    ASSERT_EQ(p.rf.nodes(), part.nodes.size());
    EXPECT_EQ(p.rf.writers.rows(), part.keys.size());
    EXPECT_EQ(p.rf.sessions.size(), part.nodes.size());
    EXPECT_EQ(p.hint.read_time.size(), part.nodes.size());
    for (Node n = 0; n < p.rf.nodes(); ++n) {
      EXPECT_EQ(p.rf.txn[n], rf.txn[part.nodes[n]]);
      for (const ExternalRead& read : p.rf.reads[n]) {
        ASSERT_NE(read.write, kNone);
        EXPECT_EQ(p.rf.readers[read.write][0], n);
        EXPECT_EQ(p.rf.write_key[read.write], read.key);
      }
      reads += p.rf.reads[n].size();
    }
    writes += p.rf.writes();
  }
  EXPECT_EQ(writes, rf.writes());
  EXPECT_EQ(reads, rf.reads.items.size());
}

TEST(Decomposition, StatedOrdersGoWithTheirKeys) {
  const History h =
      make_history({{1, {w("x", 1)}}, {2, {w("x", 2)}}, {3, {w("y", 1)}}, {4, {w("y", 2)}}},
                   {{"y", {2, 1}}, {"x", {1, 2}}});
  const ReadsFrom rf = match_reads(h);
  const std::vector<Part> parts = decompose(h, rf, level_info(session_si));
  ASSERT_EQ(parts.size(), 2u);
  const std::vector<StatedOrder> whole = stated_orders(h, rf);
  ASSERT_EQ(whole.size(), 2u);
  const Hint hint = make_hint(h, rf);
  Projector projector(rf, hint, whole);
  for (const Part& part : parts) {
    const Projection p = projector.project(h, part);
    const std::vector<StatedOrder> stated = stated_orders(h, p.rf);
    ASSERT_EQ(stated.size(), 1u);
    EXPECT_EQ(stated[0].key, 0u);  // the only one of the part
    const bool is_x = h.key(part.keys[0]).to_string() == "x";
    EXPECT_EQ(p.rf.txn[stated[0].before], is_x ? 0u : 3u);
    EXPECT_EQ(p.rf.txn[stated[0].after], is_x ? 1u : 2u);
    EXPECT_EQ(stated[0].source, is_x ? 1u : 0u);
  }
}

}  // namespace
}  // namespace assay::internal
