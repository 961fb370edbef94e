// What an order of events gets wrong at a level that needs a total one, and what a search has to
// know to do better. See choices.cc.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "infer/event_graph.h"
#include "infer/open_reads.h"
#include "infer/order_faults.h"
#include "levels/list_choices.h"
#include "levels/search.h"

namespace assay::internal {

class Choices {
 public:
  // `open`: the reads with several possible sources, without the reads whose source the problem
  // assumes. May be null.
  Choices(const EventGraph& events, const OpenReads* open);

  // To be called when reads were added: `more` is the former reads and the new ones.
  void take_in(const OpenReads& more);

  // Whether every read returns its value in this order, and writers that must not overlap do not.
  // Helper vertices are skipped. `effective`, ascending: the nodes that take effect although they
  // need not.
  bool explained_by(std::span<const Vertex> order, std::span<const Node> effective = {});
  // Makes a choice of each two writers of a key when the first order is examined, unless an edge or
  // `clocks`, which may be null, tells which came first.
  void make_at_once(const SessionClocks* clocks) { at_once_ = {true, clocks}; }
  // Adds to the search what excludes this order; not all of it if the budget runs out. False if
  // nothing is wrong with the order.
  bool add_what_fails(std::span<const Vertex> order, Search& search, Budget& budget);

  // Whether a node takes effect in the last order that was looked at.
  bool takes_effect(Node n) const { return faults_.takes_effect(n); }

 private:
  bool add_all_orders(Search& search, Budget& budget);
  void add(const OrderFault& fault, Search& search);
  void note_taken(std::span<const OrderFault> found, const Search& search);
  void add_list_rules(OpenLists::Place place, Search& search);
  void add_aggregate_rules(uint32_t aggregate, Search& search);
  uint64_t sources_to_add(const OrderFault& fault, const Search& search) const;
  void add_rules(const OrderFault& fault, Search& search);
  TxnId txn(Node n) const { return n == kNone ? kNone : problem_.txn[n]; }

  const Problem& problem_;
  const OpenReads* open_;
  const EventGraph& events_;
  OrderFaults faults_;
  struct {
    bool wanted = false;
    const SessionClocks* clocks = nullptr;
  } at_once_;
  std::optional<ListChoices> lists_;  // nullopt: no reads are open

  // The next members belong to the order that is being examined.
  Search::Places places_;
  // For each open read that met a wrong state, or belongs to an aggregate with a wrong result, the
  // sources that the search had chosen.
  std::unordered_map<uint32_t, std::vector<Search::Source>> taken_;
  // For a list that was read wrongly: where the search had placed its blocks.
  struct PlacedList {
    std::vector<ListChoices::Placed> blocks;
    bool compared = false;  // what keeps blocks apart, or in order, has been added
    bool overlap = false;
  };
  // Indexed by list; only lists whose choices were made before this order.
  std::unordered_map<uint32_t, PlacedList> placed_;
};

}  // namespace assay::internal
