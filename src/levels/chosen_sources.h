// The history with a source for every open read, and what Adya's levels share about it. Levels
// often end with the same sources, so the last ones are kept.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "infer/problem.h"
#include "levels/adya.h"

namespace assay::internal {

class ChosenSources {
 public:
  // Whether these sources were chosen last.
  bool are(const std::vector<Seen>& sources) const { return problem_ && sources_ == sources; }
  // Matches the reads with these sources. False if the budget ran out.
  bool choose(const History& history, std::vector<Seen> sources, Budget& budget) {
    if (are(sources)) return true;
    adya_.reset();
    problem_ = make_problem(history, sources, budget);
    sources_ = std::move(sources);
    if (budget.exhausted_now()) problem_.reset();
    return problem_.has_value();
  }
  const Problem& problem() const { return *problem_; }
  const std::vector<Seen>& sources() const { return sources_; }
  Judgement decide_adya(LevelId level, Budget& budget) {
    if (!adya_) adya_.emplace(*problem_, UpdateOrders::known);
    return adya_->decide(level, budget);
  }

 private:
  std::vector<Seen> sources_;
  std::optional<Problem> problem_;  // nullopt before the first choice
  std::optional<AdyaLevels> adya_;
};

}  // namespace assay::internal
