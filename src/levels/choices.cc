// A theory of the search (search.h): replays an order of events, finds its faults, and adds choices
// and rules that exclude each of them.
//
//   s1: A { w(x,1) }   s2: B { w(x,1) }   s3: C { w(x,2) }   s4: D { r(x,1) r(y,0) }   s5: E {
//                                                            w(y,1) r(x,2) }
//
//   order A B C D: D meets C's 2          choice: D saw what A, or what B left      A → D or B → D
//   order A C D B, D saw A's              rule: D saw A's, and A before C, so D → C
//
// Cost: one pass over the order in each round; only what excludes a fault is added. To compare with
// PolySI and Viper, which give a solver all constraints that pruning leaves, the orders of all
// pairs of writers can be made choices at once: on a hot key, the square of its writers.

#include "levels/choices.h"

#include <algorithm>
#include <utility>

#include "levels/aggregate_choices.h"

namespace assay::internal {

Choices::Choices(const EventGraph& events, const OpenReads* open)
    : problem_(events.problem()), open_(open), events_(events), faults_(events, open) {
  if (open_ != nullptr) lists_.emplace(open_->lists());
}

void Choices::take_in(const OpenReads& more) {
  open_ = &more;
  faults_.take_in(more);
}

bool Choices::explained_by(std::span<const Vertex> order, std::span<const Node> effective) {
  for (const Node n : effective) faults_.set_effective(n, true);
  return faults_.find(order).empty();
}

bool Choices::add_what_fails(std::span<const Vertex> order, Search& search, Budget& budget) {
  if (std::exchange(at_once_.wanted, false) && add_all_orders(search, budget)) return true;
  for (const Node n : problem_.possible)
    if (faults_.is_possible(n)) faults_.set_effective(n, search.takes_effect(txn(n)));
  const std::vector<OrderFault> found = faults_.find(order);
  places_ = faults_.places();
  note_taken(found, search);
  // The memory for a choice: its edges and clauses, and what the search keeps for each of its
  // sides.
  constexpr uint64_t kBytesASource = 250, kAskEvery = 4 << 20;
  uint64_t more = 0;
  for (const OrderFault& fault : found) {
    more += kBytesASource * std::max<uint64_t>(1, sources_to_add(fault, search));
    if (more >= kAskEvery && !budget.has_room(std::exchange(more, 0))) break;
    if (budget.exhausted()) break;
    add(fault, search);
  }
  return !found.empty();
}

// Returns false if there is no order to add. Stops if the budget runs out.
bool Choices::add_all_orders(Search& search, Budget& budget) {
  constexpr uint64_t kBytesAnOrder = 250, kAskEvery = 4096;
  uint64_t added = 0;
  for (KeyId key = 0; key < problem_.keys(); ++key) {
    const auto writers = problem_.key_writers(key);
    for (size_t i = 0; i < writers.size(); ++i) {
      budget.spend(i);
      if (budget.exhausted()) return true;
      const Node b = problem_.writes.node[writers[i]];
      for (const WriteId write : writers.first(i)) {
        const Node a = problem_.writes.node[write];
        if (at_once_.clocks != nullptr && at_once_.clocks->ordered(a, b)) continue;
        const auto has = [&](Node from, Node to) {
          const Arc arc{events_.write_event(from), events_.overwrite_event(to)};
          return events_.graph().find(arc) != Digraph::kEnd;
        };
        if (has(a, b) || has(b, a)) continue;
        if (++added % kAskEvery == 0 && !budget.has_room(kAskEvery * kBytesAnOrder)) return true;
        search.order_of(txn(a), txn(b));
      }
    }
  }
  return added != 0;
}

uint64_t Choices::sources_to_add(const OrderFault& fault, const Search& search) const {
  const auto of_read = [&](uint32_t read) -> uint64_t {
    const bool made = read == kNone || !search.sources_of(read).empty();
    return made ? 0 : open_->all()[read].sources.size();
  };
  uint64_t all = 0;
  if (fault.kind == OrderFault::Kind::source) all = of_read(fault.read);
  if (fault.kind == OrderFault::Kind::list && !lists_->made(fault.list.list))
    all = open_->lists().all()[fault.list.list].choices();
  if (fault.kind == OrderFault::Kind::aggregate)
    for (const uint32_t read : open_->aggregates().all()[fault.read].reads) all += of_read(read);
  return all;
}

void Choices::add(const OrderFault& fault, Search& search) {
  switch (fault.kind) {
    case OrderFault::Kind::pair:
      search.order_of(txn(fault.first), txn(fault.writer));
      return;
    case OrderFault::Kind::source:
      if (search.sources_of(fault.read).empty()) {
        search.add_sources(fault.read, places_);
      } else {
        add_rules(fault, search);
      }
      return;
    case OrderFault::Kind::list:
      if (lists_->made(fault.list.list)) {
        add_list_rules(fault.list, search);
      } else {
        lists_->make(fault.list.list, places_, search);
      }
      return;
    case OrderFault::Kind::aggregate:
      return add_aggregate_rules(fault.read, search);
    case OrderFault::Kind::time:
      return search.add_edge(Edge::real_time(txn(fault.first), false, txn(fault.writer), true), {});
    case OrderFault::Kind::intruder: {
      const ExternalRead& read = problem_.reads[fault.first][fault.read];
      const TxnId writer = txn(fault.writer);
      const TxnId source = read.write == kNone ? kNone : txn(problem_.writes.node[read.write]);
      std::vector<Side> sides;
      if (source != kNone) sides.push_back(search.order_of(source, writer));
      return search.add_edge(
          Edge::anti_dependency(txn(fault.first), writer, read.key, source, read.op),
          std::move(sides));
    }
  }
}

// The reader precedes every transaction that overwrites the state its source left.
void Choices::add_rules(const OrderFault& fault, Search& search) {
  const OpenRead& r = open_->all()[fault.read];
  const std::vector<Search::Source> taken = taken_[fault.read];
  for (const auto& [side, source] : taken) {
    const TxnId writer = txn(fault.writer);
    std::vector<Side> sides = {side};
    if (source != kNone) sides.push_back(search.order_of(source, writer));
    search.add_edge(Edge::anti_dependency(r.reader, writer, r.key, source, r.op), std::move(sides));
  }
}

void Choices::add_aggregate_rules(uint32_t aggregate, Search& search) {
  const OpenAggregate& one = open_->aggregates().all()[aggregate];
  const auto needs_choice = [this](uint32_t read) { return !faults_.is_assumed(read); };
  const auto taken = [this](uint32_t read) -> std::span<const Search::Source> {
    return taken_[read];
  };
  AggregateChoices(*open_, one, faults_.met_by(aggregate), places_)
      .add(needs_choice, taken, search);
}

// Done before anything is added, as additions may undo it.
void Choices::note_taken(std::span<const OrderFault> found, const Search& search) {
  placed_.clear();
  taken_.clear();
  const auto note = [&](uint32_t read) {
    if (read == kNone || taken_.contains(read)) return;
    for (const Search::Source& made : search.sources_of(read))
      if (search.taken(made.side)) taken_[read].push_back(made);
  };
  for (const OrderFault& fault : found) {
    if (fault.kind == OrderFault::Kind::source) note(fault.read);
    if (fault.kind == OrderFault::Kind::aggregate)
      std::ranges::for_each(open_->aggregates().all()[fault.read].reads, note);
  }
  for (const OrderFault& fault : found) {
    const uint32_t list = fault.list.list;
    if (fault.kind != OrderFault::Kind::list || !lists_->made(list) || placed_.contains(list))
      continue;
    placed_[list].blocks = lists_->placed(list, search);
  }
}

// The read saw what the transactions up to one of them had appended, so it came after that one and
// before the next.
void Choices::add_list_rules(OpenLists::Place place, Search& search) {
  const auto found = placed_.find(place.list);
  if (found == placed_.end()) return;  // its choices have only just been made
  PlacedList& placed = found->second;
  const OpenList& list = lists_->lists().all()[place.list];
  const OpenList::Read& read = list.reads[place.read];
  if (!std::exchange(placed.compared, true)) {
    placed.overlap = lists_->add_overlaps(place.list, placed.blocks, search);
    if (!placed.overlap) lists_->add_orders(place.list, placed.blocks, places_, search);
  }
  if (placed.overlap) return;
  const ListChoices::Placed* last = ListChoices::last_seen(placed.blocks, read.length);
  const uint32_t here = places_[search.read_event(read.reader)];
  if (last != nullptr && places_[search.write_event(last->txn)] > here)
    search.add_edge(Edge::read_dependency(last->txn, read.reader, list.key, read.op), {last->side});
  for (const ListChoices::Placed& p : placed.blocks) {
    if (p.at < read.length || p.txn == read.reader || places_[search.write_event(p.txn)] > here)
      continue;
    std::vector<Side> sides;
    if (last != nullptr) sides = {search.order_of(last->txn, p.txn), last->side};
    search.add_edge(Edge::anti_dependency(read.reader, p.txn, list.key,
                                          last == nullptr ? kNone : last->txn, read.op),
                    std::move(sides));
  }
}

}  // namespace assay::internal
