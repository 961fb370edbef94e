// A theory of the search (search.h): replays an order of events, finds what is wrong with it, and adds what keeps it from going
// wrong like this again.
//
//   s1: A { w(x,1) }   s2: B { w(x,1) }   s3: C { w(x,2) }   s4: D { r(x,1) r(y,0) }   s5: E { w(y,1) r(x,2) }
//
//   order A B C D: D meets C's 2          choice: D saw what A, or what B left      A → D or B → D
//   order A C D B, D saw A's              rule: D saw A's, and A before C, so D → C
//
// Cost: one pass over the order a round; what is added is what goes wrong.

#include "levels/choices.h"

#include <algorithm>
#include <utility>

#include "infer/schedule.h"

namespace assay::internal {

Choices::Choices(const EventGraph& events, const OpenReads* open)
    : events_(events), problem_(events.problem()), open_(open) {
  if (open_ == nullptr) return;
  const History& h = events_.history();
  if (!problem_.possible.empty()) {
    possible_.assign(problem_.nodes(), 0);
    effective_.assign(problem_.nodes(), 0);
  }
  for (const Node n : problem_.possible) {
    possible_[n] = 1;
    std::vector<KeyId>& keys = possible_writes_[n];
    for (OpId i = h.first_op(problem_.txn[n]); i < h.end_op(problem_.txn[n]); ++i)
      if (installs_version(h.op(i))) keys.push_back(h.op(i).key);
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  }
  lists_.emplace(open_->lists());
  note_settled();
}

void Choices::take_in(const OpenReads& more) {
  open_ = &more;
  note_settled();
}

void Choices::note_settled() {
  for (size_t i = settled_.size(); i < open_->all().size(); ++i) {
    const OpenRead& read = open_->all()[i];
    const bool assumed =
        std::binary_search(problem_.assumed.begin(), problem_.assumed.end(),
                           Seen{read.op, read.key, 0}, [](const Seen& a, const Seen& b) {
                             return std::pair(a.op, a.key) < std::pair(b.op, b.key);
                           });
    settled_.push_back(assumed);
  }
}

std::span<const KeyId> Choices::writes_of(Node n) const {
  if (is_possible(n)) return possible_writes_.at(n);
  return {problem_.writes.key.data() + problem_.writes.begin[n],
          problem_.writes.key.data() + problem_.writes.begin[n + 1]};
}

bool Choices::is_source(const OpenRead& read, Node writer) const {
  return std::binary_search(read.sources.begin(), read.sources.end(),
                            writer == kNone ? kNone : problem_.txn[writer]);
}

bool Choices::explained_by(std::span<const Vertex> order) { return find(order).empty(); }

std::vector<Choices::Failure> Choices::find(std::span<const Vertex> order) {
  std::vector<Failure> found;
  for (const Fault& fault : find_faults(events_, order))
    found.push_back({Failure::Kind::pair, fault.earlier, fault.later, kNone});
  if (open_ == nullptr) return found;
  current_.assign(problem_.keys(), kNone);
  place_.assign(events_.graph().vertices(), 0);
  begins_bind_ = !possible_.empty() && (events_.level().real_time == RealTime::into_commits ||
                                        events_.level().real_time == RealTime::all_but_begins);
  appended_.emplace(open_->lists());
  latest_ = kNone;
  latest_of_.assign(begins_bind_ ? events_.history().session_count() : 0, kNone);
  const bool overlap = events_.level().write_conflict && !possible_.empty();
  std::vector<Node> holder(overlap ? problem_.keys() : 0, kNone);
  for (uint32_t i = 0; i < order.size(); ++i) {
    const Vertex v = order[i];
    place_[v] = i;
    if (!events_.is_event(v)) continue;
    const Node n = events_.node_of(v);
    if (!takes_effect(n)) continue;
    if (v == events_.read_event(n)) {
      look_at_reads(n, found);
      look_at_lists(n, found);
      look_at_clock(n, found);
      for (const KeyId key : overlap ? writes_of(n) : std::span<const KeyId>()) {
        const Node held = holder[key];
        if (held != kNone && (is_possible(held) || is_possible(n)))
          found.push_back({Failure::Kind::pair, held, n, kNone});
        holder[key] = n;
      }
    }
    if (v != events_.write_event(n)) continue;
    note_commit(n);
    appended_->append(problem_.txn[n]);
    for (const KeyId key : writes_of(n)) {
      current_[key] = n;
      if (overlap && holder[key] == n) holder[key] = kNone;
    }
  }
  return found;
}

void Choices::look_at_reads(Node n, std::vector<Failure>& found) const {
  for (const uint32_t read : open_->of(problem_.txn[n])) {
    const OpenRead& r = open_->all()[read];
    if (!settled_[read] && !is_source(r, current_[r.key]))
      found.push_back({Failure::Kind::source, n, current_[r.key], read});
  }
  if (possible_.empty()) return;
  const std::span<const ExternalRead> reads = problem_.reads[n];
  for (uint32_t i = 0; i < reads.size(); ++i) {
    const Node writer = current_[reads[i].key];
    if (writer != kNone && is_possible(writer))
      found.push_back({Failure::Kind::intruder, n, writer, i});
  }
}

void Choices::look_at_lists(Node n, std::vector<Failure>& found) const {
  for (const OpenLists::Place place : open_->lists().reads_of(problem_.txn[n])) {
    if (appended_->shows(place)) continue;
    Failure failure{Failure::Kind::list, n, kNone, kNone};
    failure.list = place;
    found.push_back(std::move(failure));
  }
}

void Choices::note_commit(Node n) {
  if (!begins_bind_) return;
  const History& h = events_.history();
  const auto end = [&](Node m) { return event_time(h, problem_.txn[m], true).request; };
  if (!event_time(h, problem_.txn[n], true).known()) return;
  Node& own = latest_of_[h.session(problem_.txn[n])];
  if (latest_ == kNone || end(latest_) < end(n)) latest_ = n;
  if (own == kNone || end(own) < end(n)) own = n;
}

// The known graph lets nobody wait for the begin of who need not take effect.
void Choices::look_at_clock(Node n, std::vector<Failure>& found) const {
  if (!begins_bind_ || !is_possible(n)) return;
  const History& h = events_.history();
  const Interval begin = event_time(h, problem_.txn[n], false);
  if (!begin.known()) return;
  const auto comes_late = [&](Node other, int64_t over) {
    return other != kNone && over < event_time(h, problem_.txn[other], true).request;
  };
  const Node own = latest_of_[h.session(problem_.txn[n])];  // whose clock is the same
  if (comes_late(latest_, last_overlap(h, begin.response))) {
    found.push_back({Failure::Kind::time, n, latest_, kNone});
  } else if (comes_late(own, begin.response)) {
    found.push_back({Failure::Kind::time, n, own, kNone});
  }
}

bool Choices::add_what_fails(std::span<const Vertex> order, Search& search, Budget& budget) {
  for (const Node n : problem_.possible)
    if (is_possible(n)) effective_[n] = search.takes_effect(txn(n));
  std::vector<Failure> found = find(order);
  for (Failure& failure : found) {  // what is added may undo what the search has taken
    if (failure.kind != Failure::Kind::source) continue;
    for (const Search::Source& made : search.sources_of(failure.read))
      if (search.taken(made.side)) failure.taken.push_back(made);
  }
  note_placed(found, search);
  // A choice, its edges and clauses, and what the search keeps of each of its sides.
  constexpr uint64_t kBytesASource = 250, kAskEvery = 4 << 20;
  uint64_t more = 0;
  for (const Failure& failure : found) {
    const bool sources =
        failure.kind == Failure::Kind::source && search.sources_of(failure.read).empty();
    const bool list = failure.kind == Failure::Kind::list && !lists_->made(failure.list.list);
    more += kBytesASource * (sources ? open_->all()[failure.read].sources.size()
                             : list  ? open_->lists().all()[failure.list.list].choices()
                                     : 1);
    if (more >= kAskEvery && !budget.has_room(std::exchange(more, 0))) break;
    if (budget.exhausted()) break;
    add(failure, search);
  }
  return !found.empty();
}

void Choices::add(const Failure& failure, Search& search) {
  switch (failure.kind) {
    case Failure::Kind::pair:
      search.order_of(txn(failure.first), txn(failure.writer));
      return;
    case Failure::Kind::source:
      if (search.sources_of(failure.read).empty()) {
        search.add_sources(failure.read, place_);
      } else {
        add_rules(failure, search);
      }
      return;
    case Failure::Kind::list:
      if (lists_->made(failure.list.list)) {
        add_list_rules(failure.list, search);
      } else {
        lists_->make(failure.list.list, place_, search);
      }
      return;
    case Failure::Kind::time: {
      Edge edge;
      edge.kind = EdgeKind::real_time;
      edge.from = txn(failure.first);
      edge.to = txn(failure.writer);
      edge.from_write = false;
      edge.to_write = true;
      return search.add_edge(std::move(edge), {});
    }
    case Failure::Kind::intruder: {
      const ExternalRead& read = problem_.reads[failure.first][failure.read];
      Edge edge;
      edge.kind = EdgeKind::anti_dependency;
      edge.from = txn(failure.first);
      edge.to = txn(failure.writer);
      edge.via = read.write == kNone ? kNone : txn(problem_.writes.node[read.write]);
      edge.key = read.key;
      edge.op = read.op;
      std::vector<Side> sides;
      if (edge.via != kNone) sides.push_back(search.order_of(edge.via, edge.to));
      return search.add_edge(std::move(edge), std::move(sides));
    }
  }
}

// The read saw what its source left, so it came before whoever overwrote that.
void Choices::add_rules(const Failure& failure, Search& search) {
  const OpenRead& r = open_->all()[failure.read];
  for (const auto& [side, source] : failure.taken) {
    Edge edge;
    edge.kind = EdgeKind::anti_dependency;
    edge.from = r.reader;
    edge.to = txn(failure.writer);
    edge.via = source;
    edge.key = r.key;
    edge.op = r.op;
    std::vector<Side> sides = {side};
    if (source != kNone) sides.push_back(search.order_of(source, edge.to));
    search.add_edge(std::move(edge), std::move(sides));
  }
}

void Choices::note_placed(std::span<const Failure> found, const Search& search) {
  placed_.clear();
  for (const Failure& failure : found) {
    const uint32_t list = failure.list.list;
    if (failure.kind != Failure::Kind::list || !lists_->made(list) || placed_.contains(list))
      continue;
    placed_[list].blocks = lists_->placed(list, search);
  }
}

// The read saw what the transactions up to one of them had appended, so it came after that one, and before the next.
void Choices::add_list_rules(OpenLists::Place place, Search& search) {
  const auto found = placed_.find(place.list);
  if (found == placed_.end()) return;  // its choices were made just now
  PlacedList& placed = found->second;
  const OpenList& list = lists_->lists().all()[place.list];
  const OpenList::Read& read = list.reads[place.read];
  if (!std::exchange(placed.compared, true)) {
    placed.overlap = lists_->add_overlaps(place.list, placed.blocks, search);
    if (!placed.overlap) lists_->add_orders(place.list, placed.blocks, place_, search);
  }
  if (placed.overlap) return;
  const ListChoices::Placed* last = ListChoices::last_seen(placed.blocks, read.length);
  const uint32_t here = place_[search.read_event(read.reader)];
  const auto add_edge = [&](EdgeKind kind, TxnId from, TxnId to) {
    Edge edge;
    edge.kind = kind;
    edge.from = from;
    edge.to = to;
    edge.key = list.key;
    edge.op = read.op;
    std::vector<Side> sides;
    if (kind == EdgeKind::anti_dependency && last != nullptr) {
      edge.via = last->txn;
      sides.push_back(search.order_of(last->txn, to));
    }
    if (last != nullptr) sides.push_back(last->side);
    search.add_edge(std::move(edge), std::move(sides));
  };
  if (last != nullptr && place_[search.write_event(last->txn)] > here)
    add_edge(EdgeKind::read_dependency, last->txn, read.reader);
  for (const ListChoices::Placed& p : placed.blocks)
    if (p.at >= read.length && p.txn != read.reader && place_[search.write_event(p.txn)] <= here)
      add_edge(EdgeKind::anti_dependency, read.reader, p.txn);
}

}  // namespace assay::internal
