// A dependency graph that the test takes from the stated orders and the reads of a history gets the
// checker's verdict, from an independent path: the verifier makes a certificate of it. With an edge
// too many it is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "assay/check.h"
#include "cases.h"
#include "certify/graph.h"
#include "levels/walk.h"
#include "oracle/random_draft.h"

namespace assay::internal {
namespace {

using certify::StatedEdge;
using certify::StatedGraph;

// Of a history of registers whose versions are all in stated orders, each written by one committed
// transaction; nothing if it is another.
bool take_graph(const History& h, StatedGraph& graph) {
  std::vector<TxnId> writer(h.version_count(), kNone);
  for (OpId op = 0; op < h.op_count(); ++op) {
    const TxnId t = h.txn_of(op);
    if (h.status(t) != TxnStatus::committed) return false;
    if (h.op(op).kind == OpKind::write) writer[h.op(op).version] = t;
  }
  std::vector<std::vector<TxnId>> order(h.key_count());
  for (const KnownOrder& known : h.known_orders())
    for (const VersionId v : known.versions)
      if (writer[v] != kNone && (order[known.key].empty() || order[known.key].back() != writer[v]))
        order[known.key].push_back(writer[v]);
  const auto add = [&](EdgeKind kind, TxnId from, TxnId to, KeyId key) {
    if (from != to) graph.edges.push_back({kind, from, to, key, graph.edges.size() + 1});
  };
  for (KeyId key = 0; key < h.key_count(); ++key)
    for (size_t i = 1; i < order[key].size(); ++i)
      add(EdgeKind::write_dependency, order[key][i - 1], order[key][i], key);
  for (OpId op = 0; op < h.op_count(); ++op) {
    const Operation o = h.op(op);
    const TxnId reader = h.txn_of(op);
    if (o.kind != OpKind::read || writer[o.version] == reader) continue;
    const TxnId from = h.is_initial(o.version) ? kNone : writer[o.version];
    if (from != kNone) add(EdgeKind::read_dependency, from, reader, o.key);
    const auto& all = order[o.key];
    const auto at = std::ranges::find(all, from);
    const auto next = from == kNone ? all.begin() : at == all.end() ? at : at + 1;
    if (next != all.end()) add(EdgeKind::anti_dependency, reader, *next, o.key);
  }
  return true;
}

TEST(StatedGraph, GetsTheVerdictOfTheChecker) {
  Rng rng(rotated(91));
  uint64_t satisfied = 0, violated = 0;
  for (uint64_t done = 0; done < histories(6'000);) {
    auto history = random_draft(rng, {.ordered = 1, .single_op = 0, .unknown = 0}).history();
    if (!history.ok()) continue;
    ++done;
    for (const LevelId level : {LevelId::pl_2, LevelId::pl_2_plus, LevelId::pl_3}) {
      StatedGraph graph;
      graph.level = level;
      if (!take_graph(*history, graph)) continue;
      CheckOptions how;
      how.levels = {level};
      const CheckResult result = decide_levels(*history, how);
      const Verdict& verdict = result.verdicts.front();
      // A violation that one read shows is no cycle.
      if (verdict.outcome == Outcome::unknown ||
          (verdict.outcome == Outcome::violated &&
           result.certificates[verdict.certificate].kind == Certificate::Kind::bad_read))
        continue;
      const auto proved = certify::verify_graph(graph, *history);
      if (proved.ok()) {
        EXPECT_EQ(proved->outcome(), verdict.outcome);
        ++(proved->outcome() == Outcome::satisfied ? satisfied : violated);
      } else if (verdict.outcome == Outcome::violated) {
        ADD_FAILURE() << level_info(level).name << ": " << proved.error().to_string();
      }
      if (graph.edges.empty() || verdict.outcome == Outcome::violated) continue;
      StatedEdge& one = graph.edges[rng.below(graph.edges.size())];
      if (one.kind != EdgeKind::write_dependency) continue;
      std::swap(one.from, one.to);
      EXPECT_FALSE(certify::verify_graph(graph, *history).ok());
    }
  }
  EXPECT_GT(satisfied, 100u);
  EXPECT_GT(violated, 100u);
}

}  // namespace
}  // namespace assay::internal
