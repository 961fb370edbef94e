#include "infer/decomposition.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "history/test_history.h"
#include "infer/projection.h"
#include "infer/reads_from.h"

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
  return decompose(make_problem(h), level_info(level)).size();
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
  const Problem whole = make_problem(h);
  const std::vector<Part> parts = decompose(whole, level_info(session_si));
  Projector projector(whole);
  size_t writes = 0, reads = 0;
  for (const Part& part : parts) {
    const Problem p = projector.project(part);
    ASSERT_EQ(p.nodes(), part.nodes.size());
    EXPECT_EQ(p.keys(), part.keys.size());
    EXPECT_EQ(p.sessions.size(), part.nodes.size());
    EXPECT_EQ(p.hint.read_time.size(), part.nodes.size());
    for (Node n = 0; n < p.nodes(); ++n) {
      EXPECT_EQ(p.txn[n], whole.txn[part.nodes[n]]);
      for (const ExternalRead& read : p.reads[n]) {
        ASSERT_NE(read.write, kNone);
        EXPECT_EQ(p.readers[read.write][0], n);
        EXPECT_EQ(p.writes.key[read.write], read.key);
      }
      reads += p.reads[n].size();
    }
    writes += p.writes.size();
  }
  EXPECT_EQ(writes, whole.writes.size());
  EXPECT_EQ(reads, whole.reads.items.size());
}

// What is looked up by a number of the history.
TEST(Decomposition, APartFindsWhatIsInIt) {
  const History h = sessions_in_a_row();
  const Problem whole = make_problem(h);
  Projector projector(whole);
  for (const Part& part : decompose(whole, level_info(session_si))) {
    const Problem p = projector.project(part);
    const auto number_in = [](const std::vector<uint32_t>& ids, uint32_t id) {
      const auto at = std::find(ids.begin(), ids.end(), id);
      return at == ids.end() ? kNone : static_cast<uint32_t>(at - ids.begin());
    };
    for (TxnId t = 0; t < h.txn_count(); ++t)
      EXPECT_EQ(p.node_of(t), number_in(part.nodes, whole.node_of(t)));
    for (KeyId key = 0; key < h.key_count(); ++key)
      EXPECT_EQ(p.key_of(key), number_in(part.keys, key));
    for (VersionId v = 0; v < h.version_count(); ++v)
      EXPECT_EQ(p.write_of_version(v), number_in(p.writes.version, v));
  }
}

TEST(Decomposition, APartRepeatsItsReadsAsTheWholeDoes) {
  const History h = make_history({{1, {w("x", 1)}},
                                  {1, {w("y", 1)}},
                                  {2, {r("x", 1), r("y", 1), r("x", 1)}},
                                  {3, {w("apart", 1)}}});
  const Problem whole = make_problem(h);
  const std::vector<Part> parts = decompose(whole, level_info(session_si));
  ASSERT_EQ(parts.size(), 2u);
  const Problem p = Projector(whole).project(parts[0]);
  std::vector<ExternalRead> reads;
  external_reads(p, 2, reads);
  ASSERT_EQ(reads.size(), 3u);
  for (const ExternalRead& read : reads) EXPECT_EQ(p.writes.key[read.write], read.key);
}

TEST(Decomposition, ProofsOfAPartNameKeysOfTheWhole) {
  const History h = sessions_in_a_row();
  const Problem whole = make_problem(h);
  const std::vector<Part> parts = decompose(whole, level_info(session_si));
  ASSERT_FALSE(parts.empty());
  Edge edge, inner;
  edge.key = inner.key = 0;
  edge.path = {inner, Edge()};
  Proof proof;
  proof.steps.emplace_back().cycle = {edge};
  proof.steps.emplace_back().clause = {Literal::seen(0, 0, kNone)};
  const KeyId key = parts.back().keys[0];
  const Proof named = Projector(whole).project(parts.back()).in_whole(proof);
  EXPECT_EQ(named.steps[0].cycle[0].key, key);
  EXPECT_EQ(named.steps[0].cycle[0].path[0].key, key);
  EXPECT_EQ(named.steps[0].cycle[0].path[1].key, kNone);
  EXPECT_EQ(named.steps[1].clause[0].key, key);
  EXPECT_EQ(whole.in_whole(proof).steps[0].cycle[0].key, 0u);
}

TEST(Decomposition, StatedOrdersGoWithTheirKeys) {
  const History h =
      make_history({{1, {w("x", 1)}}, {2, {w("x", 2)}}, {3, {w("y", 1)}}, {4, {w("y", 2)}}},
                   {{"y", {2, 1}}, {"x", {1, 2}}});
  const Problem whole = make_problem(h);
  const std::vector<Part> parts = decompose(whole, level_info(session_si));
  ASSERT_EQ(parts.size(), 2u);
  ASSERT_EQ(whole.stated.size(), 2u);
  Projector projector(whole);
  for (const Part& part : parts) {
    const Problem p = projector.project(part);
    ASSERT_EQ(p.stated.size(), 1u);
    EXPECT_EQ(p.stated[0].key, 0u);  // the only one of the part
    const bool is_x = h.key(part.keys[0]).to_string() == "x";
    EXPECT_EQ(p.txn[p.stated[0].before], is_x ? 0u : 3u);
    EXPECT_EQ(p.txn[p.stated[0].after], is_x ? 1u : 2u);
    EXPECT_EQ(p.stated[0].source, is_x ? 1u : 0u);
  }
}

}  // namespace
}  // namespace assay::internal
