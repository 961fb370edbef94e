#include "explain/cycle.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "explain/reads_and_writes.h"
#include "history/accesses.h"
#include "levels/proof_hints.h"

namespace assay::internal {

bool several_sources(const ProofStep& step) {
  return (step.kind == ProofStep::Kind::sources ||
          (step.kind == ProofStep::Kind::blocks && step.element != kNone)) &&
         step.clause.size() > 1;
}

namespace {

// The step of the proof which says that the history states `order`; null if there is none.
const ProofStep* stating(const Proof& proof, const Literal& order) {
  for (const ProofStep& step : proof.steps)
    if (step.kind == ProofStep::Kind::fact && step.clause.size() == 1 && step.clause[0] == order)
      return &step;
  return nullptr;
}

// Whether the proof treats the source of the edge's read as one of several.
bool source_is_open(const Proof& proof, const Edge& edge) {
  if (edge.kind != EdgeKind::read_dependency && edge.kind != EdgeKind::anti_dependency)
    return false;
  const bool reads = edge.kind == EdgeKind::read_dependency;
  const Literal seen =
      Literal::seen(reads ? edge.to : edge.from, edge.key, reads ? edge.from : edge.via);
  const auto says_so = [&](Literal literal) {
    if (literal.kind == Literal::Kind::block)
      return literal.key == seen.key && literal.from == seen.from;
    const bool same_operation = literal.op == kNone || literal.op == edge.op;
    literal.op = kNone;
    return same_operation && literal == seen;
  };
  return std::any_of(proof.steps.begin(), proof.steps.end(), [&](const ProofStep& step) {
    return several_sources(step) && std::any_of(step.clause.begin(), step.clause.end(), says_so);
  });
}

// Returns what shows the order of writers that an edge of the proof assumes.
Step justified(const History& h, const Proof& proof, const Conclusion& conclusion,
               const Edge& edge) {
  if (source_is_open(proof, edge)) return {edge, Step::Because::assumed};
  const std::optional<Literal> order = order_assumed(edge);
  if (!order) return {edge};
  if (const ProofStep* fact = stating(proof, *order))
    return {edge, Step::Because::stated, {}, fact->source_is_op ? fact->source : kNone};
  const auto forced = std::ranges::find(conclusion.forced, *order, &Forced::literal);
  if (forced == conclusion.forced.end()) return {edge};
  const Access update = first_read(h, edge.to, edge.key);
  if (update.op != kNone && wrote(h, order->from, update.version))
    return {edge, Step::Because::read_first};
  return {edge, Step::Because::proof, {}, forced->step};
}

}  // namespace

Cycle own_cycle(const History& h, const Proof& proof, const Conclusion& conclusion) {
  Cycle cycle;
  for (const Edge& edge : conclusion.cycle) cycle.push_back(justified(h, proof, conclusion, edge));
  return cycle;
}

Cycle both_overwrite(const History& h, VersionId version, TxnId source, TxnId first, TxnId second) {
  const KeyId key = h.version_key(version);
  const auto anti = [&](TxnId from, TxnId to) {
    Step s;
    s.edge.kind = EdgeKind::anti_dependency;
    s.edge.from = from;
    s.edge.to = to;
    s.edge.key = key;
    s.edge.via = source;
    s.edge.op = first_read(h, from, key).op;
    if (source != kNone) s.because = Step::Because::read_first;
    return s;
  };
  return {anti(first, second), anti(second, first)};
}

namespace {

// Visits the versions that committed transactions read first of a key and overwrote, in the order
// of the file, until `take` returns false.
void each_overwritten(const History& h, const std::function<bool(TxnId, VersionId)>& take) {
  std::vector<std::pair<TxnId, VersionId>> first_read(h.key_count(), {kNone, kNone});
  WrittenKeys written;
  bool more = true;
  for (TxnId t = 0; t < h.txn_count() && more; ++t) {
    if (h.status(t) != TxnStatus::committed) continue;
    const auto read = [&](KeyId key, VersionId version) {
      if (first_read[key].first != t && !written.contains(key)) first_read[key] = {t, version};
    };
    const auto look = [&](const Observation& seen) {
      if (seen.accepts == Accepts::equals || seen.accepts == Accepts::list)
        read(seen.key, seen.version);
      if (seen.accepts == Accepts::rows)
        each_row(h, seen.op, [&](VersionId row) { read(h.version_key(row), row); });
    };
    walk_accesses(h, t, written, look, [&](const Install& install) {
      const auto& [reader, version] = first_read[install.key];
      if (more && reader == t && !written.contains(install.key)) more = take(t, version);
    });
  }
}

}  // namespace

Cycle lost_update(const History& h, std::span<const TxnId> named) {
  const std::vector<TxnId> source = sources_of_versions(h);
  std::vector<TxnId> updater(h.version_count(), kNone);
  struct Pair {
    VersionId version;
    TxnId first, second;
  };
  std::optional<Pair> found;
  const auto is_named = [&](TxnId t) { return std::ranges::binary_search(named, t); };
  each_overwritten(h, [&](TxnId t, VersionId version) {
    if (source[version] == kSeveral) return true;
    if (updater[version] == kNone) {
      updater[version] = t;
      return true;
    }
    const bool both_named = is_named(updater[version]) && is_named(t);
    if (!found || both_named) found = {version, updater[version], t};
    return !both_named;
  });
  if (!found) return {};
  return both_overwrite(h, found->version, source[found->version], found->first, found->second);
}

Cycle without_forced(Cycle cycle) {
  // An edge because of the writer's own read makes a better story than session order, so it is
  // preferred.
  const auto is_forced = [](const Step& s) { return s.edge.kind == EdgeKind::forced; };
  auto main = std::find_if(cycle.begin(), cycle.end(), [&](const Step& s) {
    return is_forced(s) && s.edge.path.size() == 1 &&
           s.edge.path[0].kind == EdgeKind::read_dependency;
  });
  if (main == cycle.end()) main = std::find_if(cycle.begin(), cycle.end(), is_forced);
  if (main == cycle.end()) return cycle;

  std::rotate(cycle.begin(), main, cycle.end());
  const Edge forced = cycle[0].edge;
  Cycle out;
  for (const Edge& e : forced.path) out.push_back({e});
  Step missed;
  missed.edge.kind = EdgeKind::anti_dependency;
  missed.edge.from = forced.via;
  missed.edge.to = forced.from;
  missed.edge.via = forced.to;
  missed.edge.key = forced.key;
  missed.edge.op = forced.op;
  missed.because = Step::Because::path;
  for (size_t i = 1; i < cycle.size(); ++i) missed.path.push_back(cycle[i].edge);
  if (missed.path.size() == 1 && missed.path[0].kind == EdgeKind::read_dependency &&
      missed.path[0].key == forced.key)
    missed.because = Step::Because::read_first;
  out.push_back(std::move(missed));
  return out;
}

bool is_proven(const Cycle& cycle, const Proof& proof) {
  return std::none_of(cycle.begin(), cycle.end(), [&](const Step& s) {
    if (s.because == Step::Because::proof)
      return proof.steps[s.source].kind == ProofStep::Kind::derived;
    return order_assumed(s.edge) &&
           (s.because == Step::Because::plain || s.because == Step::Because::assumed);
  });
}

}  // namespace assay::internal
