// Two engines that share nothing but the reads-from relation: the event graph (strong.cc) and the search over
// prefixes (src/prefix_search).
//
// An order is a certificate, whichever engine found it. But that a search over prefixes was exhausted cannot be
// checked afterwards, so for its violations the event graph is asked for a proof. If that finds an order
// instead, one of the two is wrong, and the verdict is unknown, cause internal: a bug in this program.

#include "levels/engine.h"

#include "base/bug.h"
#include "base/parallel.h"
#include "infer/decomposition.h"
#include "levels/by_parts.h"
#include "prefix_search/prefix_search.h"

namespace assay::internal {
namespace {

constexpr size_t kSmall = 1000;  // transactions that are decided before a thread has started

LevelVerdict prove(const StrongInput& in, const LevelInfo& level, Budget& budget) {
  LevelVerdict proved = decide_strong(in, level, budget);
  if (proved.outcome == Outcome::violated) return proved;
  LevelVerdict open;
  if (proved.outcome == Outcome::unknown) {
    open.reason = {
        proved.reason.cause,
        "the search over prefixes found no order, but there is no proof: " + proved.reason.detail};
  } else {
    open.reason = bug("the search over prefixes found no order, the event graph found one");
  }
  return open;
}

LevelVerdict by_prefixes(const StrongInput& in, const LevelInfo& level, Budget& budget) {
  PrefixSearchVerdict found;
  {
    const auto timer = in.stages.time("prefixes");
    found = search_prefixes(in.history, in.rf, in.hint, level, budget);
  }
  in.stages.count("prefixes", found.prefixes);
  if (found.outcome == Outcome::violated) return prove(in, level, budget);
  LevelVerdict verdict;
  verdict.outcome = found.outcome;
  verdict.reason = std::move(found.reason);
  verdict.order = std::move(found.order);
  return verdict;
}

}  // namespace

LevelVerdict decide(const CheckOptions& options, const StrongInput& in, const LevelInfo& level,
                    Budget& budget) {
  // The search over prefixes knows no open reads, and what they join is not one part.
  const bool closed = in.open == nullptr;
  const auto engine = options.engine == EngineId::graph || !closed ? decide_strong : by_prefixes;
  std::vector<Part> parts;
  if (in.switches.decomposition && closed) {
    const auto timer = in.stages.time("decompose");
    constexpr uint64_t kBytesANode = 28, kBytesAKey = 16;  // chains, components and the parts
    if (!budget.has_room(kBytesANode * in.rf.nodes() + kBytesAKey * in.rf.writers.rows())) {
      LevelVerdict unknown;
      unknown.reason = budget.reason();
      return unknown;
    }
    parts = decompose(in.history, in.rf, level);
  }
  if (parts.empty()) return engine(in, level, budget);
  in.stages.count("parts", parts.size());
  unsigned threads = options.threads;
  if (threads == 0) threads = in.rf.nodes() < kSmall ? 1 : core_count();
  return decide_by_parts(in, level, parts, threads, budget, engine);
}

}  // namespace assay::internal
