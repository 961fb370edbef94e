// A search looks at an order, finds what is wrong with it, and adds what keeps it from going wrong like this again.
//
//   s1: A { w(x,1) }   s2: B { w(x,1) }   s3: C { w(x,2) }   s4: D { r(x,1) r(y,0) }   s5: E { w(y,1) r(x,2) }
//
//   order A B C D: D meets C's 2          choice: D saw what A, or what B left      A → D or B → D
//   order A C D B, D saw A's              rule: D saw A's, and A before C, so D → C
//
// Three kinds of propositions are open (assay/certificate.h, Literal): the order of two writers of a key, what an
// operation saw of a key, and whether a transaction of unknown outcome took effect. Edges follow from them:
//
//   A before B                                   w(A) → w(B), and r(R) → w(B) for everybody known to have read A's
//   R saw what A left                            w(A) → r(R); and A took effect
//   R saw what A left, and A before B            r(R) → w(B)
//   R saw the initial state                      r(R) → w(B)
//
// each only if its ends take effect. An order of two writers brings the edges of those who are known to have read from
// them, since they are known when it becomes a choice; all others are added one by one, when an order was wrong for want
// of them. One source of each open read has to hold, and whoever was seen took effect; that is all there is in clauses.
// Transactions of unknown outcome that nobody needs have no edges that lead anywhere, and so are in nobody's way.
//
// Every addition excludes the order that it was made for, and there are finitely many, so a search that adds them ends.
//
// Cost: one pass over the order a round; what is added is what goes wrong. "Lazy" generation of constraints is from
// SMT (Nieuwenhuis, Oliveras, Tinelli, JACM 2006).

#include "levels/choices.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "infer/schedule.h"

namespace assay::internal {

Choices::Choices(const EventGraph& events, const OpenReads* open, const Saturation* saturation)
    : events_(events), problem_(events.problem()), open_(open), saturation_(saturation) {
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

// What the lists ask of the search.
class Choices::Lists : public ListSearch {
 public:
  Lists(Choices& choices, ChoiceSolver& solver) : choices_(choices), solver_(solver) {}

  Side add_block(const Literal& block, bool prefer) override {
    choices_.literals_.push_back(block);
    return 2 * solver_.add_choice({}, {}, prefer);
  }
  Side effect_of(TxnId t) override { return choices_.effect_of(choices_.node_of(t), solver_); }
  Side order_of(TxnId before, TxnId after) override {
    return choices_.order_of(choices_.node_of(before), choices_.node_of(after), solver_);
  }
  void add_clause(std::span<const Side> sides, ProofStep step) override {
    for (const Side side : sides) step.clause.push_back(choices_.literal(side));
    choices_.clauses_.push_back(std::move(step));
    solver_.add_clause(sides);
  }
  bool is_possible(TxnId t) const override { return choices_.is_possible(choices_.node_of(t)); }
  bool taken(Side side) const override { return solver_.first_taken(side / 2) == (side % 2 == 0); }

 private:
  Choices& choices_;
  ChoiceSolver& solver_;
};

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

bool Choices::add_what_fails(std::span<const Vertex> order, ChoiceSolver& solver, Budget& budget) {
  for (const auto& [n, choice] : effects_) effective_[n] = solver.first_taken(choice);
  std::vector<Failure> found = find(order);
  for (Failure& failure : found) {  // what is added may undo what the search has taken
    if (failure.kind != Failure::Kind::source || !sources_.contains(failure.read)) continue;
    for (const auto& made : sources_.at(failure.read))
      if (solver.first_taken(made.first)) failure.taken.push_back(made);
  }
  note_placed(found, solver);
  // A choice, its edges and clauses, and what the search keeps of each of its sides.
  constexpr uint64_t kBytesASource = 250, kAskEvery = 4 << 20;
  uint64_t more = 0;
  for (const Failure& failure : found) {
    const bool sources = failure.kind == Failure::Kind::source && !sources_.contains(failure.read);
    const bool list = failure.kind == Failure::Kind::list && !lists_->made(failure.list.list);
    more += kBytesASource * (sources ? open_->all()[failure.read].sources.size()
                             : list  ? open_->lists().all()[failure.list.list].choices()
                                     : 1);
    if (more >= kAskEvery && !budget.has_room(std::exchange(more, 0))) break;
    if (budget.exhausted()) break;
    add(failure, solver);
  }
  return !found.empty();
}

void Choices::add(const Failure& failure, ChoiceSolver& solver) {
  switch (failure.kind) {
    case Failure::Kind::pair:
      order_of(failure.first, failure.writer, solver);
      return;
    case Failure::Kind::source:
      if (sources_.contains(failure.read)) {
        add_rules(failure, solver);
      } else {
        add_sources(failure.read, solver);
      }
      return;
    case Failure::Kind::list:
      if (lists_->made(failure.list.list)) {
        add_list_rules(failure.list, solver);
      } else {
        Lists search(*this, solver);
        lists_->make(
            failure.list.list,
            [this](TxnId t) { return place_[events_.write_event(problem_.node_of(t))]; }, search);
      }
      return;
    case Failure::Kind::time: {
      std::vector<Side> sides;
      const Node ends[] = {failure.first, failure.writer};
      add_effects(ends, sides, solver);
      Edge edge;
      edge.kind = EdgeKind::real_time;
      edge.from = problem_.txn[failure.first];
      edge.to = problem_.txn[failure.writer];
      edge.from_write = false;
      edge.to_write = true;
      add_conditional({events_.read_event(failure.first), events_.write_event(failure.writer)},
                      edge, sides, solver);
      return;
    }
    case Failure::Kind::intruder: {
      const ExternalRead& read = problem_.reads[failure.first][failure.read];
      const Node reader = failure.first,
                 source = read.write == kNone ? kNone : problem_.writes.node[read.write];
      std::vector<Side> sides;
      if (source != kNone) sides.push_back(order_of(source, failure.writer, solver));
      add_effects({&failure.writer, 1}, sides, solver);
      Edge edge;
      edge.kind = EdgeKind::anti_dependency;
      edge.from = problem_.txn[reader];
      edge.to = problem_.txn[failure.writer];
      edge.via = source == kNone ? kNone : problem_.txn[source];
      edge.key = read.key;
      edge.op = read.op;
      add_conditional({events_.read_event(reader), events_.write_event(failure.writer)}, edge,
                      sides, solver);
      return;
    }
  }
}

// Which of its sources the read saw: one before it in the order rather than one after it, the nearest first.
void Choices::add_sources(uint32_t read, ChoiceSolver& solver) {
  const OpenRead& r = open_->all()[read];
  const Node reader = problem_.node_of(r.reader);
  const std::vector<TxnId> sources =
      nearest_first(r, place_[events_.read_event(reader)],
                    [this](TxnId t) { return place_[events_.write_event(problem_.node_of(t))]; });
  ProofStep one_of;
  one_of.kind = ProofStep::Kind::sources;
  one_of.source = r.op;
  one_of.key = r.key;
  std::vector<Side> clause;
  std::vector<uint32_t> group;
  auto& made = sources_[read];
  for (const TxnId t : sources) {
    const Node source = node_of(t);
    const bool plain = source != kNone && !is_possible(source) && !is_possible(reader);
    const Arc arc{source == kNone ? 0 : events_.write_event(source), events_.read_event(reader)};
    const uint32_t choice = solver.add_choice({&arc, plain ? size_t{1} : size_t{0}}, {}, true);
    literals_.push_back(Literal::seen(r.reader, r.key, t));
    one_of.clause.push_back(literals_.back());
    clause.push_back(2 * choice);
    group.push_back(choice);
    made.emplace_back(choice, source);
    if (source == kNone || plain) continue;
    Edge edge;
    edge.kind = EdgeKind::read_dependency;
    edge.from = t;
    edge.to = r.reader;
    edge.key = r.key;
    edge.op = r.op;
    std::vector<Side> sides = {2 * choice};
    const Node ends[] = {source, reader};
    add_effects(ends, sides, solver);
    add_conditional(arc, edge, sides, solver);
  }
  solver.group(group, events_.read_event(reader));
  if (is_possible(reader)) {
    clause.push_back(effect_of(reader, solver) ^ 1);
    one_of.clause.push_back(literal(clause.back()));
  }
  clauses_.push_back(std::move(one_of));
  solver.add_clause(clause);
  for (const auto& [choice, source] : made) {
    if (source == kNone || !is_possible(source)) continue;
    std::vector<Side> sides = {2 * choice + 1, effect_of(source, solver)};
    if (is_possible(reader)) sides.push_back(effect_of(reader, solver) ^ 1);
    ProofStep effect;
    effect.kind = ProofStep::Kind::effect;
    for (const Side side : sides) effect.clause.push_back(literal(side));
    clauses_.push_back(std::move(effect));
    solver.add_clause(sides);
  }
}

// The read saw what its source left, so it came before whoever overwrote that.
void Choices::add_rules(const Failure& failure, ChoiceSolver& solver) {
  const OpenRead& r = open_->all()[failure.read];
  const Node reader = problem_.node_of(r.reader), writer = failure.writer;
  for (const auto& [choice, source] : failure.taken) {
    std::vector<Side> sides = {2 * choice};
    if (source != kNone) sides.push_back(order_of(source, writer, solver));
    const Node ends[] = {reader, writer};
    add_effects(ends, sides, solver);
    Edge edge;
    edge.kind = EdgeKind::anti_dependency;
    edge.from = r.reader;
    edge.to = problem_.txn[writer];
    edge.via = source == kNone ? kNone : problem_.txn[source];
    edge.key = r.key;
    edge.op = r.op;
    add_conditional({events_.read_event(reader), events_.write_event(writer)}, edge, sides, solver);
  }
}

void Choices::note_placed(std::span<const Failure> found, ChoiceSolver& solver) {
  placed_.clear();
  for (const Failure& failure : found) {
    const uint32_t list = failure.list.list;
    if (failure.kind != Failure::Kind::list || !lists_->made(list) || placed_.contains(list))
      continue;
    placed_[list].blocks = lists_->placed(list, Lists(*this, solver));
  }
}

// The read saw what the transactions up to one of them had appended, so it came after that one, and before the next.
void Choices::add_list_rules(OpenLists::Place place, ChoiceSolver& solver) {
  const auto found = placed_.find(place.list);
  if (found == placed_.end()) return;  // its choices were made just now
  PlacedList& placed = found->second;
  const OpenList& list = lists_->lists().all()[place.list];
  const OpenList::Read& read = list.reads[place.read];
  Lists search(*this, solver);
  const auto write = [this](TxnId t) { return events_.write_event(problem_.node_of(t)); };
  if (!std::exchange(placed.compared, true)) {
    const auto comes_before = [&](TxnId a, TxnId b) { return place_[write(a)] < place_[write(b)]; };
    placed.overlap = lists_->add_overlaps(place.list, placed.blocks, search);
    if (!placed.overlap) lists_->add_orders(place.list, placed.blocks, comes_before, search);
  }
  if (placed.overlap) return;
  const ListChoices::Placed* last = ListChoices::last_seen(placed.blocks, read.length);
  const Node reader = problem_.node_of(read.reader);
  const uint32_t here = place_[events_.read_event(reader)];
  const auto add_edge = [&](EdgeKind kind, TxnId from, TxnId to, Arc arc, std::vector<Side> sides) {
    Edge edge;
    edge.kind = kind;
    edge.from = from;
    edge.to = to;
    if (kind == EdgeKind::anti_dependency && last != nullptr) edge.via = last->txn;
    edge.key = list.key;
    edge.op = read.op;
    if (last != nullptr) sides.push_back(last->side);
    const Node ends[] = {problem_.node_of(from), problem_.node_of(to)};
    add_effects(ends, sides, solver);
    add_conditional(arc, edge, sides, solver);
  };
  if (last != nullptr && place_[write(last->txn)] > here)
    add_edge(EdgeKind::read_dependency, last->txn, read.reader,
             {write(last->txn), events_.read_event(reader)}, {});
  for (const ListChoices::Placed& p : placed.blocks) {
    if (p.at < read.length || p.txn == read.reader || place_[write(p.txn)] > here) continue;
    std::vector<Side> sides;
    if (last != nullptr) sides.push_back(search.order_of(last->txn, p.txn));
    add_edge(EdgeKind::anti_dependency, read.reader, p.txn,
             {events_.read_event(reader), write(p.txn)}, std::move(sides));
  }
}

void Choices::add_effects(std::span<const Node> nodes, std::vector<Side>& sides,
                          ChoiceSolver& solver) {
  for (const Node n : nodes)
    if (is_possible(n)) sides.push_back(effect_of(n, solver));
}

void Choices::add_conditional(Arc arc, Edge edge, std::span<const Side> sides,
                              ChoiceSolver& solver) {
  Conditional conditional{std::move(edge), {}};
  for (const Side side : sides)
    if (const Literal l = literal(side); l.kind != Literal::Kind::order)
      conditional.given.push_back(l);
  conditional_.push_back(std::move(conditional));
  solver.add_conditional(arc, sides);
}

Side Choices::effect_of(Node n, ChoiceSolver& solver) {
  const auto [it, fresh] = effects_.try_emplace(n, static_cast<uint32_t>(literals_.size()));
  if (fresh) {
    solver.add_choice({}, {}, false);
    literals_.push_back(Literal::effect(problem_.txn[n]));
  }
  return 2 * it->second;
}

// The side that says so.
Side Choices::order_of(Node before, Node after, ChoiceSolver& solver) {
  const uint64_t low = std::min(before, after), high = std::max(before, after);
  const auto [it, fresh] =
      pairs_.try_emplace(high << 32 | low, static_cast<uint32_t>(literals_.size()));
  const uint32_t choice = it->second;
  if (!fresh) return 2 * choice + (literals_[choice].from == problem_.txn[before] ? 0 : 1);
  const bool possible = is_possible(before) || is_possible(after);
  std::vector<Arc> first, second;
  if (!possible) {
    side_edges(before, after, first);
    side_edges(after, before, second);
  }
  solver.add_choice(first, second, true);
  literals_.push_back(Literal::order(problem_.txn[before], problem_.txn[after]));
  pair_of_.resize(literals_.size());
  pair_of_.back() = {before, after};
  for (const auto& [a, b, side] :
       {std::tuple(before, after, 2 * choice), std::tuple(after, before, 2 * choice + 1)}) {
    if (!possible) break;
    Edge edge;
    edge.kind = EdgeKind::write_dependency;
    edge.from = problem_.txn[a];
    edge.to = problem_.txn[b];
    edge.key = shared_key(a, b);
    std::vector<Side> sides = {side};
    const Node ends[] = {a, b};
    add_effects(ends, sides, solver);
    add_conditional({events_.write_event(a), events_.overwrite_event(b)}, edge, sides, solver);
  }
  return 2 * choice;
}

KeyId Choices::shared_key(Node a, Node b) const {
  const std::span<const KeyId> others = writes_of(b);
  for (const KeyId key : writes_of(a))
    if (std::binary_search(others.begin(), others.end(), key)) return key;
  return kNone;
}

// The edges that follow if `a` precedes `b` in version order.
void Choices::side_edges(Node a, Node b, std::vector<Arc>& arcs) const {
  arcs.push_back({events_.write_event(a), events_.overwrite_event(b)});
  for (const WriteId w : problem_.writes.of(a)) {
    if (problem_.write_of(b, problem_.writes.key[w]) == kNone) continue;
    for (Node reader : problem_.readers[w]) {
      if (reader == b) continue;
      const bool implied = saturation_ != nullptr && saturation_->on_chain(reader) &&
                           saturation_->reaches(reader, false, events_.write_event(b));
      if (!implied) arcs.push_back({events_.read_event(reader), events_.write_event(b)});
    }
  }
}

// The write dependency of two writers, the anti-dependency of somebody known to have read from the first, or the read
// dependency on a source.
Edge Choices::edge(Arc arc, Side side) const {
  const Literal l = literal(side);
  Edge edge;
  edge.from = l.from;
  edge.to = l.to;
  edge.key = l.key;
  if (l.kind == Literal::Kind::seen) {
    edge.kind = EdgeKind::read_dependency;
    for (const uint32_t read : open_->of(l.to))
      if (open_->all()[read].key == l.key) edge.op = open_->all()[read].op;
    return edge;
  }
  auto [first, second] = pair_of_[side / 2];
  if (side % 2 == 1) std::swap(first, second);
  if (arc.from == events_.write_event(first) && arc.to == events_.overwrite_event(second)) {
    edge.kind = EdgeKind::write_dependency;
    edge.key = shared_key(first, second);
    return edge;
  }
  edge.kind = EdgeKind::anti_dependency;
  edge.via = l.from;
  const Node reader = events_.node_of(arc.from);
  edge.from = problem_.txn[reader];
  for (const ExternalRead& read : problem_.reads[reader]) {
    const bool reads_first = read.write != kNone && problem_.writes.node[read.write] == first;
    if (reads_first && problem_.write_of(second, read.key) != kNone) edge.key = read.key;
  }
  return edge;
}

}  // namespace assay::internal
