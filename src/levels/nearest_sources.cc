// Weak levels with open sources of reads, without a long search: with what an order explains, or
// with the sources that snapshots would have had.
//
//   s1: A { w(x,1) }   s2: B { del(x) w(y,1) }   s3: C { del(x) }   s4: D { r(y,1) r(x,null) }
//   Nobody wrote x before A, B or C left it absent. D read y from B, so in a snapshot it saw B's x,
//   or C's if that came later.
//
// First an order is tried in which transactions wait for what they read (explained_order.cc),
// without any choices. At read committed it usually explains everything.
//
// Nearly every database lets transactions read snapshots, or something stricter. So the sources
// that snapshots rule out are omitted (infer/narrow_sources.cc, at prefix), which usually leaves
// one for each read, and the search for the others (source_search.cc) begins with the nearest in
// the order that the hint proposes. The result is a commit order with these sources, whatever the
// reason for choosing them.
//
// If none is found, other sources may do, and all of them are searched. Every read of an absent key
// has all transactions that removed the key as sources: that search has millions of choices where
// this one has thousands. This one ends after few conflicts, since strong levels, whose orders
// determine the sources, come before a long search.
//
// Cost: that of narrowing, and of searches with few conflicts. No paper.

#include "levels/nearest_sources.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "infer/hint.h"
#include "infer/narrow_sources.h"
#include "levels/source_search.h"

namespace assay::internal {
namespace {

// The order that the hint proposes.
Order first_order(const Problem& problem) {
  Order order;
  for (const Node n : by_write_time(problem.hint))
    if (!problem.is_possible(n)) order.events.push_back(problem.txn[n]);
  return order;
}

// Whether everything that the level asks about is among the open reads.
bool has_all(const OpenReads& open, const OpenReads& asked) {
  return std::ranges::all_of(asked.all(), [&](const OpenRead& one) {
    return std::ranges::all_of(one.ops, [&](OpId op) {
      return std::ranges::any_of(open.of(one.reader), [&](uint32_t read) {
        const OpenRead& there = open.all()[read];
        return there.key == one.key && std::ranges::count(there.ops, op) > 0;
      });
    });
  });
}

Judgement accept_narrowed(const Problem& matched, const Problem& problem, const LevelInfo& level,
                          const SpeedUps& on, uint64_t most_conflicts, Stages& stages,
                          Budget& budget) {
  std::optional<Problem> narrowed;
  {
    const auto timer = stages.time("narrow");
    narrowed =
        narrow_sources(problem, level_info(LevelId::prefix), usual_reach(problem), {}, budget);
  }
  if (!narrowed) return {};
  ChosenSources chosen;
  Judgement found = decide_with_sources(matched, level, *narrowed->open, first_order(*narrowed), on,
                                        chosen, stages, budget, most_conflicts);
  if (found.outcome() != Outcome::satisfied) return {};
  found.certificate.order.sources = chosen.sources();  // without them a verifier would find other
                                                       // sources
  return found;
}

}  // namespace

Judgement try_nearest_sources(const Problem& matched, const Problem& problem,
                              const LevelInfo& level, const OpenReads& asked, const Order& first,
                              const SpeedUps& on, Stages& stages, Budget& budget) {
  constexpr uint64_t kFewConflicts = 1'000, kConflictsANode = 2;
  const uint64_t conflicts = kFewConflicts + kConflictsANode * problem.nodes();
  const auto decide = [&](uint64_t most_conflicts) {
    ChosenSources all;
    return decide_with_sources(matched, level, asked, first, on, all, stages, budget,
                               most_conflicts);
  };
  Judgement found = decide(0);
  if (found.outcome() != Outcome::unknown) return found;
  if (has_all(*problem.open, asked)) {
    found = accept_narrowed(matched, problem, level, on, conflicts, stages, budget);
    if (found.outcome() != Outcome::unknown) return found;
  }
  return decide(conflicts);
}

}  // namespace assay::internal
