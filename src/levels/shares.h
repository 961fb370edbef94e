// The share of the budget that each search gets, so one hard level leaves something to the others.
//
//   two levels asked for, and three that may settle them:   1/4 1/4   1/8 1/16 1/16   and then
//                                                                     what is left
//
// Half of it goes to the levels asked for in equal parts: so each of k levels can be decided if it
// needs no more than 1 / 2k of the whole; a quarter goes to other levels that may decide them, half
// of that to the one that is searched first, since it is the one that may decide most. The rest
// goes to the levels that ran out of their share. Cost: none.
#pragma once

#include <optional>
#include <vector>

#include "assay/budget.h"
#include "levels/lattice.h"

namespace assay::internal {

class Shares {
 public:
  // Both must outlive this object.
  Shares(Budget& budget, Lattice& lattice) : budget_(budget), lattice_(lattice) {}

  // Announces that no level will take more than a pass or two from here on.
  void expect_passes() { passes_ = true; }
  // Searches the level while its share of the budget lasts.
  template <class Search>
  void spend(LevelId level, const Search& search) {
    lattice_.set_searched(level, true);
    const Budget whole = budget_;
    budget_ = whole.within(share_of(level));
    search();
    give_back(level, whole);
  }

  bool any_ran_out() const { return !ran_out_.empty(); }
  // Allows levels whose share ran out to be searched again, with the rest of the budget.
  void give_rest();
  // To be called when other levels than before are useful.
  void divide_anew() { parts_.reset(); }

 private:
  struct Parts {
    Allowance asked, first_other, other, all;
  };

  Allowance share_of(LevelId level);
  void divide();
  void give_back(LevelId level, Budget whole);

  Budget& budget_;
  Lattice& lattice_;
  bool passes_ = false;
  bool rest_ = false;
  std::optional<Parts> parts_;
  bool any_other_ = false;  // whether another level was searched since parts_ were made
  std::vector<LevelId> ran_out_;
};

}  // namespace assay::internal
