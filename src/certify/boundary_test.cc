// Which executions of recorded transactions a boundary describes, and what is refused.
#include "certify/boundary.h"

#include <gtest/gtest.h>

#include <string>

#include "assay/format.h"

namespace assay::internal::certify {
namespace {

// By number: 0 and 1 are A and C of s1, 2 and 3 are B and D of s2; the reads are operations 1, 3
// and 4.
History recorded() {
  auto read = read_history_text(
      "s1: A { w(y,1) r(x,null) } C { w(z,3) }\ns2: B { r(y,1) r(z,3) w(x,2) } D { w(v,4) }\n",
      "test", {.from = "hist"});
  EXPECT_TRUE(read.ok());
  return std::move(read->history);
}

// The operations of each transaction that runs, "A: 2, C: 1".
std::string executed(const Boundary& boundary) {
  const auto history = execute_boundary(boundary, recorded());
  if (!history.ok()) return history.error().message;
  std::string text;
  for (TxnId t = 0; t < history->txn_count(); ++t)
    text += (text.empty() ? "" : ", ") + history->name(t) + ": " +
            std::to_string(history->end_op(t) - history->first_op(t));
  return text;
}

TEST(PredictedBoundary, WhatComesAfterACutIsLeftOut) {
  EXPECT_EQ(executed({}), "A: 2, C: 1, B: 3, D: 1");
  EXPECT_EQ(executed({{{2, 2, {{4, kNone}}}}}), "A: 2, C: 1, B: 2");
  EXPECT_EQ(executed({{{1, 1, {}}}}), "A: 2, C: 1");
  EXPECT_EQ(executed({{{0, 2, {}}}}), "A: 2");
  EXPECT_EQ(executed({{{1, 0, {}}, {2, 3, {{4, kNone}}}}}), "A: 2, C: 0, B: 3");
}

TEST(PredictedBoundary, WhatChangesIsWhatItsSourceLeft) {
  const auto history = execute_boundary({{{2, 3, {{3, kNone}, {4, kNone}}}}}, recorded());
  ASSERT_TRUE(history.ok());
  EXPECT_TRUE(history->version_value(history->op(history->first_op(2)).version).is_null());
  EXPECT_EQ(history->version_value(history->op(0).version), ValueView::of(int64_t{1}));
}

TEST(PredictedBoundary, ACutHasToBeOne) {
  EXPECT_EQ(executed({{{9, 1, {}}}}), "a transaction that is cut did not commit");
  EXPECT_EQ(executed({{{2, 1, {}}, {2, 1, {}}}}), "B is cut twice");
  EXPECT_EQ(executed({{{2, 4, {}}}}), "B has fewer operations than are run");
  EXPECT_EQ(executed({{{1, 1, {}}, {2, 2, {}}}}), "B is cut, but comes after another that is cut");
  EXPECT_EQ(executed({{{2, 2, {}}, {3, 1, {}}}}), "D is cut, but comes after another that is cut");
}

TEST(PredictedBoundary, ASourceHasToRunAndToWriteTheKey) {
  const std::string no_read =
      "what changes is not a read of another transaction's writes before the cut of B";
  EXPECT_EQ(executed({{{2, 1, {{4, kNone}}}}}), no_read);
  EXPECT_EQ(executed({{{2, 3, {{5, kNone}}}}}), no_read);
  EXPECT_EQ(executed({{{2, 3, {{1, kNone}}}}}), no_read);
  EXPECT_EQ(executed({{{2, 3, {{3, kNone}, {3, 0}}}}}), "a read changes twice");
  EXPECT_EQ(executed({{{2, 3, {{3, 1}}}}}), "a read changes to C, which does not write its key");
  const std::string left_out = "a read changes to a transaction that does not run in full";
  EXPECT_EQ(executed({{{2, 3, {{3, 9}}}}}), left_out);
  EXPECT_EQ(executed({{{0, 2, {{1, 2}}}}}), left_out);
  EXPECT_EQ(executed({{{0, 2, {{1, 0}}}}}), left_out);
}

TEST(PredictedBoundary, EveryReadHasOneSource) {
  const auto refused = [](const char* text) {
    auto read = read_history_text(text, "test", {.from = "hist"});
    EXPECT_TRUE(read.ok());
    return !RecordedSources::of(read->history).ok();
  };
  EXPECT_FALSE(refused("s1: { w(x,1) r(x,1) }\ns2: { r(x,1) d(x,t) }\ns3: { r(y,null) }"));
  EXPECT_TRUE(refused("s1: { w(x,1) }\ns2: { w(x,1) }\ns3: { r(x,1) }"));
  EXPECT_TRUE(refused("s1: { w(x,1) }!\ns3: { r(x,1) }"));
  EXPECT_TRUE(refused("s1: { w(x,1) }?\ns3: { r(x,1) }"));
  EXPECT_TRUE(refused("s1: { w(x,1) w(x,2) }\ns3: { r(x,1) }"));
  EXPECT_TRUE(refused("s1: { r(x,1) w(x,1) }"));
  EXPECT_TRUE(refused("s1: { w(x,1) r(x,null) }"));
  EXPECT_TRUE(refused("s1: { w(x,1) d(x,t) }\ns2: { r(x,null) }"));
  EXPECT_TRUE(refused("s1: { cas(x,null,1) }"));
}

TEST(PredictedBoundary, ItsCertificatesShowBoth) {
  const History history = recorded();
  EXPECT_EQ(verify_weak_execution({LevelId::causal, {}, {}}, history).error().message,
            "no certificate shows that causal allows the execution");
  Certificate order;
  order.levels = {LevelId::causal};
  order.order.events = {0, 1, 2, 3};
  EXPECT_EQ(verify_weak_execution({LevelId::causal, {}, {order}}, history).error().message,
            "no certificate shows that the execution is not serializable");
}

}  // namespace
}  // namespace assay::internal::certify
