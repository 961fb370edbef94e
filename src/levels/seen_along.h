// What transactions saw along an order that explains it, for Adya's levels, which want to know the
// order of versions.
//
//   s1: { w(x,1) }   s2: { w(x,1) w(y,2) }   s3: { r(x,1) }    along s1, s3, s2 the read is of s1
//
// An order that is found for another level determines what each open read was of, and that may make
// known which version came after which. Cost: that of matching with these sources, once for each
// set of them.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "assay/check.h"
#include "infer/problem.h"
#include "infer/stages.h"
#include "levels/chosen_sources.h"
#include "levels/open_problem.h"

namespace assay::internal {

class SeenAlong {
 public:
  // All must outlive it; `matched` may be made later.
  SeenAlong(const History& history, const Problem& matched, OpenProblem& open,
            const CheckOptions& options, Stages& stages, Budget& budget)
      : history_(history),
        matched_(matched),
        open_(open),
        options_(options),
        stages_(stages),
        budget_(budget) {}

  // Whether each two versions of a key that follow each other in this order of all that count are
  // stated to.
  bool states_whole(const std::vector<TxnId>& order);
  // Whether the order of versions is known if operations saw what stood at their place in an order
  // of whole transactions.
  bool knows(LevelId level, const Order& order);
  // The order as one of the Adya level; nothing if the sources along it do not satisfy the level.
  std::optional<Order> as_adya(LevelId level, const Order& order);

 private:
  std::optional<std::vector<Seen>> sources(OpenProblem::Listing listing, const Order& order);
  bool allows(LevelId level, const std::vector<Seen>& seen);

  const History& history_;
  const Problem& matched_;
  OpenProblem& open_;
  const CheckOptions& options_;
  Stages& stages_;
  Budget& budget_;
  ChosenSources along_;  // by the last order that was asked about
};

}  // namespace assay::internal
