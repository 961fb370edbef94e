// Each transaction states the level that it asked for, and its reads are held to that level.
//
//   s1: serializable    { r(x,0) w(y,1) }    A
//   s2: serializable    { r(y,0) w(x,1) }    B    A saw no write of B's, and B none of A's:
//                                                 violated
//   s2: read-committed  { r(y,0) w(x,1) }    B    what B saw does not keep A from coming first:
//                                                 satisfied
//
// The history satisfies its levels iff there is one order of events, which contains session order
// and reads-from, such that each transaction meets its own level (docs/levels/mixed.md):
//
//   read committed … causal   if it saw t2 in the sense of its level, and reads x from t1, and t2
//                             writes x, then t2 comes before t1. It is one event, w
//   prefix, snapshot          its reads are of one moment, r, before w; under snapshot isolation
//                             no other transaction installs a version of a key that it writes in
//                             between
//   serializable              the same with r and w one event
//
// These are the axioms of Biswas and Enea (OOPSLA 2019), each evaluated at the transaction that
// reads. So an edge depends on the level of one transaction only: an anti-dependency on its
// reader's level, the end of a write dependency on that of the overwriting transaction. The event
// graph knows the level of each node. Readers at weak levels have no anti-dependencies; the
// transactions they saw force write dependencies, which do not depend on the order: the search goes
// on without them, and its order is then checked against them (WeakLevels::find_faults). Violated
// ones are added, as edges that hold in every order.
//
// Cost: that of the search and of the weak levels, for each order that is looked at; usually two or
// three. Deciding is NP-hard as soon as one of the levels is. Source of the definition: Bouajjani,
// Enea and Roman-Calvo, CAV 2025.

#include <algorithm>
#include <optional>
#include <utility>

#include "history/mixed_levels.h"
#include "infer/reads_from.h"
#include "levels/rules.h"
#include "levels/strong.h"

namespace assay::internal {
namespace {

// The problem without the reads of weak readers: these need not precede the transactions that
// overwrite the versions they saw.
Problem without_weak_readers(Problem problem, const std::vector<LevelId>& held) {
  const auto drop = [&](Rows<Node>& rows) {
    uint32_t kept = 0, at = 0;
    for (size_t row = 0; row < rows.rows(); ++row) {
      for (; at < rows.begin[row + 1]; ++at) {
        const Node reader = rows.items[at];
        if (level_info(held[reader]).events != EventModel::weak) rows.items[kept++] = reader;
      }
      rows.begin[row + 1] = kept;
    }
    rows.items.resize(kept);
  };
  drop(problem.readers);
  drop(problem.initial_readers);
  return problem;
}

// Why the counting transactions cannot be held to what they declare; nullopt if they can.
std::optional<Unknown> cannot_be_mixed(const History& history) {
  for (TxnId t = 0; t < history.txn_count(); ++t) {
    if (history.status(t) == TxnStatus::aborted) continue;
    if (held_to(history, t)) continue;
    const auto declared = history.declared_level(t);
    const std::string who = "transaction " + history.name(t);
    if (!declared) return Unknown{UnknownCause::not_applicable, who + " declares no level"};
    return Unknown{UnknownCause::not_applicable,
                   who + " declares " + std::string(level_info(*declared).name) +
                       ", which is not among the levels that can be mixed"};
  }
  return std::nullopt;
}

// A transaction whose declared level lets it see one state of a key but that saw two; Anomaly::none
// if there is none.
BadRead declared_non_repeatable_read(const Problem& problem) {
  const History& h = *problem.history;
  std::vector<ExternalRead> reads;
  for (const Node n : problem.repeating) {
    if (!level_info(*held_to(h, problem.txn[n])).repeatable) continue;
    external_reads(problem, n, reads);
    for (size_t i = 0; i < reads.size(); ++i) {
      const auto first = std::find_if(reads.begin(), reads.end(), [&](const ExternalRead& read) {
        return read.key == reads[i].key;
      });
      if (first->write != reads[i].write)
        return {Anomaly::non_repeatable_read, reads[i].op, first->op};
    }
  }
  return {};
}

// Decides completely, within the budget. No read may be open, and none a bad one.
Judgement decide_mixed(const Problem& problem, const CheckOptions& options, Stages& stages,
                       Budget& budget) {
  constexpr uint64_t kBytesAReader = 8, kBytesANode = 4;  // memory of the copies
  if (!budget.has_room(sizeof(ExternalRead) * problem.reads.items.size() +
                       kBytesAReader * problem.readers.items.size() +
                       kBytesANode * problem.nodes()))
    return Judgement::unknown(budget.reason());
  std::vector<LevelId> held;
  held.reserve(problem.nodes());
  for (const TxnId t : problem.txn) held.push_back(*held_to(*problem.history, t));
  std::vector<LevelId> weak_levels;  // the levels to which some transaction is held
  for (const LevelInfo& level : all_levels())
    if (level.events == EventModel::weak && std::ranges::find(held, level.id) != held.end())
      weak_levels.push_back(level.id);
  WeakLevels weak(problem, held);
  const FindWeakFaults find_faults = [&](const std::vector<Node>& order,
                                         std::vector<WeakFault>& faults, Budget& left) {
    return std::ranges::all_of(
        weak_levels, [&](LevelId level) { return weak.find_faults(level, order, faults, left); });
  };
  return decide_strong(without_weak_readers(problem, held), level_info(LevelId::mixed), options,
                       stages, budget, nullptr, &find_faults);
}

}  // namespace

namespace rules {

bool declares_levels(Case& c, const LevelInfo&) { return c.lattice.is_wanted(LevelId::mixed); }

// Decides the level of declared levels by itself, as it follows from no other level, and none from
// it.
void decide_declared(Case& c, const LevelInfo&) {
  constexpr LevelId mixed = LevelId::mixed;
  if (std::optional<Unknown> obstacle = cannot_be_mixed(c.history))
    return c.lattice.set_unknown(mixed, std::move(*obstacle));
  BadRead bad = c.problem.found.bad_read;
  if (bad.anomaly == Anomaly::none) bad = declared_non_repeatable_read(c.problem);
  if (bad.anomaly != Anomaly::none) {
    Certificate certificate;
    certificate.levels = {mixed};
    certificate.kind = Certificate::Kind::bad_read;
    certificate.bad_read = bad;
    return c.record(std::move(certificate));
  }
  if (c.has_open_reads()) return c.lattice.set_unknown(mixed, c.open_reason(c.problem.unresolved));
  c.record(mixed, decide_mixed(c.problem, c.without_counts(), c.stages, c.budget));
}

}  // namespace rules

}  // namespace assay::internal
