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

  // More reads were added to these. They are the same but for that.
  void take_in(const OpenReads& more);

  // Whether in this order every read returns its value, and writers that must not overlap do not.
  // Helper vertices are skipped. `effective`, ascending: the nodes that take effect although they
  // need not.
  bool explained_by(std::span<const Vertex> order, std::span<const Node> effective = {});
  // Has the first look at an order make a choice of each two writers of a key whose order neither
  // an edge nor `clocks`, which may be null, say.
  void make_at_once(const SessionClocks* clocks) { at_once_ = {true, clocks}; }
  // Adds to the search what keeps it from this order again; not all of it if the budget runs out.
  // False if nothing is wrong with the order.
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
  std::optional<ListChoices> lists_;  // none: no reads are open

  // Of the order that is looked at.
  Search::Places places_;
  // Of an open read that met something else, or is one of an aggregate that gave something else,
  // the sources that the search had taken.
  std::unordered_map<uint32_t, std::vector<Search::Source>> taken_;
  // Of a list that was read wrongly: where the search had placed its blocks.
  struct PlacedList {
    std::vector<ListChoices::Placed> blocks;
    bool compared = false;  // what keeps blocks apart, or in order, was added
    bool overlap = false;
  };
  // By list. Only those whose choices had been made before this order.
  std::unordered_map<uint32_t, PlacedList> placed_;
};

}  // namespace assay::internal
