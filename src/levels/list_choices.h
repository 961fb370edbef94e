// Lists as choices of a search: where the blocks of transactions begin in a list that was read. See list_choices.cc.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "assay/certificate.h"
#include "assay/history.h"
#include "infer/open_lists.h"
#include "solver/choice_solver.h"

namespace assay::internal {

// The search that the choices are part of.
class ListSearch {
 public:
  virtual ~ListSearch() = default;
  // The first side of a new choice.
  virtual Side add_block(const Literal& block, bool prefer) = 0;
  virtual Side effect_of(TxnId t) = 0;
  virtual Side order_of(TxnId before, TxnId after) = 0;
  // A step of kind blocks whose clause is to say what `sides` do.
  virtual void add_clause(std::span<const Side> sides, ProofStep step) = 0;
  // Of a transaction that takes effect only perhaps.
  virtual bool is_possible(TxnId t) const = 0;
  virtual bool taken(Side side) const = 0;
};

class ListChoices {
 public:
  // A block that the search has placed.
  struct Placed {
    uint32_t block = 0;  // index into OpenList::blocks
    TxnId txn = kNone;
    uint32_t at = 0;   // the number of elements: later than the list
    uint32_t end = 0;  // behind its last element
    Side side = kKnownSide;
  };

  explicit ListChoices(const OpenLists& lists) : lists_(lists), sides_(lists.all().size()) {}

  const OpenLists& lists() const { return lists_; }
  bool made(uint32_t list) const { return !sides_[list].empty(); }
  // Adds the choices of a list and all that does not depend on their order. `place_of`: of a transaction in an order, as a guess.
  void make(uint32_t list, const std::function<uint32_t(TxnId)>& place_of, ListSearch& search);
  // Where the search has placed the blocks, by place.
  std::vector<Placed> placed(uint32_t list, const ListSearch& search) const;
  // Adds what forbids the overlaps among these. False if there are none.
  bool add_overlaps(uint32_t list, std::span<const Placed> placed, ListSearch& search);
  // Adds that blocks which follow each other were written in this order, where an order of transactions says otherwise.
  // False if it does not.
  bool add_orders(uint32_t list, std::span<const Placed> placed,
                  const std::function<bool(TxnId, TxnId)>& precedes, ListSearch& search);
  // The block that ends where the read does; null for an empty list.
  static const Placed* last_seen(std::span<const Placed> placed, uint32_t length);
  // The side that says that the transaction was read by the operation, which read this list so far; kKnownSide if it
  // cannot have been.
  Side side_of(OpenLists::Place read, TxnId source) const;
  // A clause that says why `before` wrote its block before `after` did its, if both are placed as given.
  static ProofStep ordered(const OpenList& list, const Placed& before, const Placed& after);

 private:
  void add_pair(uint32_t list, const Placed& a, const Placed& b, bool ordered, ListSearch& search);
  std::vector<uint32_t> guess(uint32_t list, const std::function<uint32_t(TxnId)>& place_of) const;

  const OpenLists& lists_;
  // Per list and block: of each of its places, and of "later", the side. Empty: not made.
  std::vector<std::vector<std::vector<Side>>> sides_;
  std::set<std::tuple<Side, Side, bool>> pairs_;  // clauses that were added
};

}  // namespace assay::internal
