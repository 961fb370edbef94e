#include "infer/problem.h"

#include <algorithm>
#include <utility>

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
  return problem;
}

Problem make_problem(const History& history, std::span<const Seen> assumed) {
  Budget unlimited;
  return make_problem(history, assumed, unlimited);
}

}  // namespace assay::internal
