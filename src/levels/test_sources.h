// A small history whose reads have several possible sources, matched for a weak level; for tests.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "graph/digraph.h"
#include "history/test_history.h"
#include "infer/open_reads.h"
#include "infer/problem.h"
#include "levels/source_facts.h"

namespace assay::internal {

struct MatchedSources {
  MatchedSources(const std::vector<sample::Txn>& txns, LevelId id)
      : level(level_info(id)),
        history(sample::make_history(txns)),
        problem(make_problem(history)),
        open(history, level.repeatable),
        facts(problem, level, open),
        place(history.txn_count()) {
    Budget unlimited;
    open.add(problem, unlimited);
    std::iota(place.begin(), place.end(), 0u);
    graph = facts.graph(place);
  }

  const LevelInfo& level;
  const History history;
  const Problem problem;
  OpenReads open;
  const SourceFacts facts;
  std::vector<uint32_t> place;  // indexed by transaction: the place of its line
  Digraph graph;                // what holds whatever the sources are
};

}  // namespace assay::internal
