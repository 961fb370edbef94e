// Decides a level part by part, on several threads. See by_parts.cc.
#pragma once

#include <functional>
#include <vector>

#include "infer/projection.h"
#include "levels/strong.h"

namespace assay::internal {

using Decide = std::function<Judgement(const Problem&, const LevelInfo&, const CheckOptions&,
                                       Stages&, Budget&)>;

// `parts` is what decompose() made of the history. The verdict, with its certificate, does not
// depend on `threads`.
Judgement decide_by_parts(const Problem& problem, const LevelInfo& level,
                          const std::vector<Part>& parts, unsigned threads,
                          const CheckOptions& options, Stages& stages, Budget& budget,
                          const Decide& decide);

}  // namespace assay::internal
