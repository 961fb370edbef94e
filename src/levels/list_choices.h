// Lists as choices of a search: where the blocks of transactions begin in a list that was read. See
// list_choices.cc.
#pragma once

#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "assay/certificate.h"
#include "assay/history.h"
#include "infer/open_lists.h"
#include "levels/search.h"

namespace assay::internal {

class ListChoices {
 public:
  // A block that the search has placed.
  struct Placed {
    uint32_t block = 0;  // index into OpenList::blocks
    TxnId txn = kNone;
    uint32_t at = 0;   // the number of elements means: later than the list
    uint32_t end = 0;  // after its last element
    Side side = kKnownSide;
  };

  explicit ListChoices(const OpenLists& lists) : lists_(lists), sides_(lists.all().size()) {}

  const OpenLists& lists() const { return lists_; }
  bool made(uint32_t list) const { return !sides_[list].empty(); }
  // Adds the choices of a list and all that does not depend on their order. `places`: the places of
  // an order, as a guess.
  void make(uint32_t list, Search::Places places, Search& search);
  // Where the search has placed the blocks, by place.
  std::vector<Placed> placed(uint32_t list, const Search& search) const;
  // Adds what forbids the overlaps among these blocks. False if there are none.
  bool add_overlaps(uint32_t list, std::span<const Placed> placed, Search& search);
  // If blocks follow each other in the list and an order has their writers the other way round,
  // adds that the writers come in the list's order. False if there are none such.
  bool add_orders(uint32_t list, std::span<const Placed> placed, Search::Places places,
                  Search& search);
  // The block that ends where the read does; null for an empty list.
  static const Placed* last_seen(std::span<const Placed> placed, uint32_t length);
  // The side which says that the transaction was read by the operation, given the part of the list
  // that the operation read; kKnownSide if it cannot have been.
  Side side_of(OpenLists::Place read, TxnId source) const;
  // A clause which says that `before` wrote its block before `after` wrote its own, if both are
  // placed as given.
  static ProofStep ordered(const OpenList& list, const Placed& before, const Placed& after);

 private:
  void add_pair(uint32_t list, const Placed& a, const Placed& b, bool ordered, Search& search);
  std::vector<uint32_t> guess(uint32_t list, Search::Places places, const Search& search) const;

  const OpenLists& lists_;
  // Indexed by list and block: the side for each of its places, and for "later". Empty: they have
  // not been made.
  std::vector<std::vector<std::vector<Side>>> sides_;
  std::set<std::tuple<Side, Side, bool>> pairs_;  // the clauses that have been added
};

}  // namespace assay::internal
