// What transactions saw along an order that explains them, for Adya's levels, which need the order
// of versions to be known.
//
//   s1: { w(x,1) }   s2: { w(x,1) w(y,2) }   s3: { r(x,1) }    along s1, s3, s2 the read is from s1
//
// An order that is found for another level determines what each open read was from, and from that
// it may follow which version came after which. Cost: that of matching with these sources, once for
// each set of them.
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
  // All arguments must outlive it; `matched` may be made later.
  SeenAlong(const History& history, const Problem& matched, OpenProblem& open,
            const CheckOptions& options, Stages& stages, Budget& budget)
      : history_(history),
        matched_(matched),
        open_(open),
        options_(options),
        stages_(stages),
        budget_(budget) {}

  // Whether it is stated for every two consecutive versions of a key, in this order of all counting
  // transactions, that one follows the other.
  bool states_whole(const std::vector<TxnId>& order);
  // Whether the order of versions is known if operations saw the state at their place in an order
  // of whole transactions.
  bool knows(LevelId level, const Order& order);
  // The order as one for the Adya level; nullopt if the sources along it do not satisfy the level.
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
  ChosenSources along_;  // for the last order that was asked about
};

}  // namespace assay::internal
