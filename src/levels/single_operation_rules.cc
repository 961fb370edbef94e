// Linearizability, where every transaction is one operation: strict serializability by another
// name, but a separate level, decided key by key (linearizable.cc).
//
//   s1: { w(x,1) }   s2: { r(x,1) }   s3: { w(y,1) }      x and y are each decided by itself, and
//                                                         this decides the level below, too
//
// Cost: one pass, where no value repeats.

#include <utility>

#include "levels/linearizable.h"
#include "levels/rules.h"
#include "levels/single_operations.h"

namespace assay::internal {
namespace {

using enum LevelId;

}  // namespace

namespace rules {

bool may_go_key_by_key(Case& c, const LevelInfo&) {
  return c.is_explainable() && c.options.engine == EngineId::graph &&
         (c.lattice.useful(linearizable) || c.lattice.useful(strict_serializable));
}

void decide_key_by_key(Case& c, const LevelInfo&) {
  if (!decidable_by_key(c.problem)) return;
  Judgement found = decide_by_key(c.problem, c.options.speed_ups, c.stages, c.budget);
  if (found.outcome() == Outcome::unknown) {
    if (!found.reason.empty()) c.lattice.set_unknown(linearizable, std::move(found.reason));
    return;
  }
  Certificate& certificate = found.certificate;
  if (found.outcome() == Outcome::violated && c.uses(SpeedUp::carry))
    certificate.levels = {strict_serializable, linearizable};
  else
    certificate.levels = c.lattice.served(linearizable, certificate);
  c.record(std::move(certificate));
}

bool has_single_operations_open(Case& c, const LevelInfo&) {
  return c.lattice.outcome(linearizable) == Outcome::unknown;
}

void take_from_below(Case& c, const LevelInfo&) {
  std::vector<TxnId> counting = c.problem.txn;
  for (const auto& open : c.open.listed()) {  // the transactions of possible sources may count
    if (!open) continue;
    for (const OpenRead& read : open->all())
      for (const TxnId t : read.sources)
        if (t != kNone && c.history.status(t) == TxnStatus::unknown) counting.push_back(t);
  }
  const bool open = c.problem.found.bad_read.read != kNone || c.has_open_reads();
  if (open && !c.lattice.is_decided(linearizable)) add_unknown_that_were_read(c.history, counting);
  if (std::optional<Unknown> obstacle = no_single_operation(c.history, counting))
    return c.lattice.set_unknown(linearizable, std::move(*obstacle));
  const LevelId below = next_weaker(linearizable).front();
  if (c.lattice.outcome(below) != Outcome::unknown)
    return c.lattice.extend(c.lattice.certificate(below), {linearizable});
  if (c.lattice.reason(linearizable).empty())
    c.lattice.set_unknown(linearizable, c.lattice.reason(below));
}

}  // namespace rules

}  // namespace assay::internal
