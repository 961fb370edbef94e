// Two engines that share nothing but the problem (infer/problem.h): the event graph (strong.cc) and
// the search over prefixes (src/prefix_search).
//
// An order is a certificate, whichever engine found it. But it cannot be checked afterwards that a
// search over prefixes was exhausted, so for its violations the event graph is asked for a proof.
// If the event graph finds an order instead, one of the two is wrong, and the verdict is unknown,
// cause internal: a bug in this program.

#include "levels/engine.h"

#include "base/bug.h"
#include "base/parallel.h"
#include "infer/decomposition.h"
#include "levels/by_parts.h"
#include "prefix_search/prefix_search.h"

namespace assay::internal {
namespace {

constexpr size_t kSmall = 1000;  // this many transactions are decided before a thread has started

Judgement prove(const Problem& problem, const LevelInfo& level, const CheckOptions& options,
                Stages& stages, Budget& budget) {
  Judgement proved = decide_strong(problem, level, options, stages, budget);
  if (proved.outcome() == Outcome::violated) return proved;
  if (proved.outcome() == Outcome::satisfied)
    return Judgement::unknown(
        bug("the search over prefixes found no order, but the event graph found one"));
  return Judgement::unknown(
      {proved.reason.cause,
       "the search over prefixes found no order, but there is no proof: " + proved.reason.detail});
}

Judgement by_prefixes(const Problem& problem, const LevelInfo& level, const CheckOptions& options,
                      Stages& stages, Budget& budget) {
  Judgement found = search_prefixes(problem, level, stages, budget);
  if (found.outcome() == Outcome::violated) return prove(problem, level, options, stages, budget);
  return found;
}

}  // namespace

Judgement decide(const CheckOptions& options, const Problem& problem, const LevelInfo& level,
                 Stages& stages, Budget& budget, const FindContradicted* contradicted) {
  // The search over prefixes does not know open reads, and decomposition does not know what they
  // join.
  if (problem.open != nullptr)
    return decide_strong(problem, level, options, stages, budget, contradicted);
  const Decide engine = [&](const Problem& part, const LevelInfo& at, const CheckOptions& how,
                            Stages& times, Budget& left) {
    return how.engine == EngineId::graph ? decide_strong(part, at, how, times, left)
                                         : by_prefixes(part, at, how, times, left);
  };
  std::vector<Part> parts;
  if (options.speed_ups.has(SpeedUp::decomposition)) {
    const auto timer = stages.time("decompose");
    constexpr uint64_t kBytesANode = 28, kBytesAKey = 16;  // memory of chains, components and parts
    if (!budget.has_room(kBytesANode * problem.nodes() + kBytesAKey * problem.keys()))
      return Judgement::unknown(budget.reason());
    parts = decompose(problem, level);
  }
  if (parts.empty()) return engine(problem, level, options, stages, budget);
  stages.count("parts", parts.size());
  unsigned threads = options.threads;
  if (threads == 0) threads = problem.nodes() < kSmall ? 1 : core_count();
  return decide_by_parts(problem, level, parts, threads, options, stages, budget, engine);
}

}  // namespace assay::internal
