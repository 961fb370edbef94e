#include "infer/problem.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/invariants.h"
#include "history/accesses.h"
#include "infer/hint.h"
#include "infer/reads_from.h"

namespace assay::internal {
namespace {

// The index of `wanted` in an ascending row; kNone if it is not there.
template <class Id>
uint32_t place_in(std::span<const Id> ascending, Id wanted) {
  constexpr size_t kShort =
      16;  // up to here, counting the smaller ones is faster than unpredictable branches
  size_t at = 0;
  if (ascending.size() <= kShort)
    for (const Id id : ascending) at += id < wanted;
  else
    at = std::lower_bound(ascending.begin(), ascending.end(), wanted) - ascending.begin();
  const bool found = at < ascending.size() && ascending[at] == wanted;
  return found ? static_cast<uint32_t>(at) : kNone;
}

}  // namespace

WriteId Problem::write_of(Node n, KeyId k) const {
  const WriteRange own = writes.of(n);
  const uint32_t at =
      place_in(std::span<const KeyId>(writes.key).subspan(own.first, own.size()), k);
  return at == kNone ? kNone : own.first + at;
}

WriteId Problem::write_of_version(VersionId v) const {
  if (!is_part()) return writes.of_version[v];
  const KeyId key = key_of(history->version_key(v));
  if (key == kNone) return kNone;
  const std::span<const WriteId> writers = key_writers(key);
  const auto last = std::find_if(writers.rbegin(), writers.rend(),
                                 [&](WriteId w) { return writes.version[w] == v; });
  return last == writers.rend() ? kNone : *last;
}

KeyId Problem::key_of(KeyId whole) const {
  return is_part() ? place_in<KeyId>(whole_key, whole) : whole;
}

Node Problem::find_node(TxnId t) const { return place_in<TxnId>(txn, t); }

Proof Problem::in_whole(Proof proof) const {
  if (!is_part()) return proof;
  const auto rename = [this](KeyId& key) {
    if (key != kNone) key = whole_key[key];
  };
  for (ProofStep& step : proof.steps) {
    rename(step.key);
    for (Literal& literal : step.given) rename(literal.key);
    for (Literal& literal : step.clause) rename(literal.key);
    for (Edge& edge : step.cycle) {
      rename(edge.key);
      for (Edge& inner : edge.path) rename(inner.key);
    }
  }
  return proof;
}

void Problem::check_invariants() const {
  if (nodes() + writes.size() + reads.items.size() + keys() > kMostChecked) return;
  const auto ascends = [](const auto& row) {
    return std::ranges::adjacent_find(row, std::greater_equal()) == row.end();
  };
  check_invariant(ascends(txn) && ascends(possible) && ascends(repeating) && ascends(unresolved) &&
                      ascends(whole_key),
                  "nodes, possible and repeating ones, unresolved reads and keys are sorted");
  size_t in_sessions = 0;
  for (const std::vector<Node>& session : sessions) {
    in_sessions += session.size();
    check_invariant(ascends(session), "nodes of a session are in its order");
    for (const Node n : session)
      check_invariant(history->session(txn[n]) == history->session(txn[session.front()]),
                      "nodes of a session are of one session");
  }
  check_invariant(in_sessions == nodes(), "each node is in a session");
  check_invariant(writes.begin.size() == nodes() + 1 && reads.rows() == nodes(),
                  "each node has a row of writes and of reads");
  bool lists = false;
  std::vector<std::pair<KeyId, Node>> initial;
  std::vector<std::pair<WriteId, Node>> of_writes;
  for (Node n = 0; n < nodes(); ++n) {
    check_invariant(node_of(txn[n]) == n, "a node is that of its transaction");
    for (const WriteId w : writes.of(n)) {
      check_invariant(writes.node[w] == n && write_of(n, writes.key[w]) == w,
                      "writes of a node are sorted by key, one for each");
      check_invariant(key_of(history->version_key(writes.version[w])) == writes.key[w],
                      "a write has a version of its key");
    }
    OpId last = history->first_op(txn[n]);
    for (const ExternalRead& read : reads[n]) {
      check_invariant(last <= read.op && read.op < history->end_op(txn[n]),
                      "reads of a node are its operations, in their order");
      last = read.op;
      lists = lists || is_list_operation(history->op(read.op));
      if (read.write == kNone) {
        initial.emplace_back(read.key, n);
        continue;
      }
      check_invariant(writes.key[read.write] == read.key && writes.node[read.write] != n,
                      "an external read is of another node's write of the key");
      of_writes.emplace_back(read.write, n);
    }
  }
  check_invariant(!lists || has_lists, "reads of lists are known");
  const auto same = [](const Rows<Node>& a, const Rows<Node>& b) {
    return a.begin == b.begin && a.items == b.items;
  };
  check_invariant(same(readers, collect_rows(writes.size(), of_writes)),
                  "the readers of a write are those that read it");
  check_invariant(same(initial_readers, collect_rows(keys(), initial)),
                  "the initial readers of a key are those that read it");
  std::vector<std::pair<KeyId, WriteId>> by_key;
  for (WriteId w = 0; w < writes.size(); ++w) by_key.emplace_back(writes.key[w], w);
  check_invariant(same(writes.of_key, collect_rows(keys(), by_key)),
                  "the writers of a key are in the order of nodes");
  check_invariant(hint.read_time.size() == nodes() && hint.write_time.size() == nodes(),
                  "each node has a hint");
}

bool has_room_to_match(const History& history, Budget& budget) {
  constexpr uint64_t kBytesAVersion = 32, kBytesARead = 16, kBytesATxn = 20;
  const uint64_t versions = history.version_count(), ops = history.op_count();
  return budget.has_room(kBytesAVersion * versions + kBytesARead * (ops - std::min(ops, versions)) +
                         kBytesATxn * history.txn_count());
}

Problem make_problem(const History& history, std::span<const Seen> assumed, Budget& budget,
                     const Matching& how) {
  Problem problem = match_reads(history, assumed, budget, how);
  const bool refuted = problem.found.bad_read.anomaly != Anomaly::none;
  if (budget.exhausted_now() || !budget.has_room(2 * sizeof(int64_t) * problem.nodes()) || refuted)
    return problem;
  problem.hint = make_hint(problem);
  if constexpr (kInvariantsChecked) problem.check_invariants();
  return problem;
}

Problem make_problem(const History& history, std::span<const Seen> assumed) {
  Budget unlimited;
  return make_problem(history, assumed, unlimited);
}

}  // namespace assay::internal
