// Replays an order of events and collects the reads and overlaps at which it violates the level.
//
//   A { w(x,1) }   B { w(x,2) }   C { r(x,1) }      order A B C: C meets 2. The pair A, B is at
//                                                   fault
//
// A read has to meet the version that its source left, if the source is known; otherwise a version
// that one of its possible sources left. If a level forbids overlapping writers, the writer of a
// key holds it from its begin to its commit.
//
// Cost: one pass over the order.

#include "infer/order_faults.h"

#include <algorithm>
#include <utility>

namespace assay::internal {

OrderFaults::OrderFaults(const EventGraph& events, const OpenReads* open)
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
  note_assumed();
}

void OrderFaults::take_in(const OpenReads& more) {
  open_ = &more;
  note_assumed();
}

void OrderFaults::note_assumed() {
  for (size_t i = assumed_.size(); i < open_->all().size(); ++i) {
    const OpenRead& read = open_->all()[i];
    const bool assumed =
        std::binary_search(problem_.assumed.begin(), problem_.assumed.end(),
                           Seen{read.op, read.key, 0}, [](const Seen& a, const Seen& b) {
                             return std::pair(a.op, a.key) < std::pair(b.op, b.key);
                           });
    assumed_.push_back(assumed);
  }
}

std::span<const KeyId> OrderFaults::writes_of(Node n) const {
  if (is_possible(n)) return possible_writes_.at(n);
  const WriteRange own = problem_.writes.of(n);
  return std::span<const KeyId>(problem_.writes.key).subspan(own.first, own.size());
}

std::vector<OrderFault> OrderFaults::find(std::span<const Vertex> order) {
  std::vector<OrderFault> found;
  current_.assign(problem_.keys(), {});
  holder_.assign(events_.any_holds() ? problem_.keys() : 0, kNone);
  begins_bind_ = !possible_.empty() && (events_.level().real_time == RealTime::into_commits ||
                                        events_.level().real_time == RealTime::all_but_begins);
  latest_ = kNone;
  latest_of_.assign(begins_bind_ ? events_.history().session_count() : 0, kNone);
  if (open_ != nullptr) {
    met_by_.clear();
    appended_.emplace(open_->lists());
    place_.assign(events_.graph().vertices(), 0);
    for (uint32_t i = 0; i < order.size(); ++i) place_[order[i]] = i;
  }
  for (const Vertex v : order) {
    if (!events_.is_event(v)) continue;
    const Node n = events_.node_of(v);
    if (!takes_effect(n)) continue;
    if (v == events_.read_event(n)) {
      look_at_reads(n, found);
      if (open_ != nullptr) {
        look_at_open_reads(n, found);
        look_at_aggregates(n, found);
      }
      look_at_clock(n, found);
    }
    if (events_.waits_for_holders(v)) hold(v, n, found);
    if (v == events_.write_event(n)) install(n);
  }
  return found;
}

void OrderFaults::look_at_reads(Node n, std::vector<OrderFault>& found) const {
  const std::span<const ExternalRead> reads = problem_.reads[n];
  for (uint32_t i = 0; i < reads.size(); ++i) {
    const InForce& met = current_[reads[i].key];
    if (met.any != kNone && met.any != met.certain)
      found.push_back({OrderFault::Kind::intruder, n, met.any, i});
    if (reads[i].write == kNone || met.certain == kNone || !events_.sees_one_state(n)) continue;
    const Node source = problem_.writes.node[reads[i].write];
    if (met.certain != source) found.push_back({OrderFault::Kind::pair, source, met.certain});
  }
}

void OrderFaults::look_at_open_reads(Node n, std::vector<OrderFault>& found) const {
  const auto txn = [this](Node m) { return m == kNone ? kNone : problem_.txn[m]; };
  for (const uint32_t read : open_->of(problem_.txn[n])) {
    const OpenRead& r = open_->all()[read];
    const Node met = current_[r.key].any;
    if (!assumed_[read] && !std::ranges::binary_search(r.sources, txn(met)))
      found.push_back({OrderFault::Kind::source, n, met, read});
  }
  for (const OpenLists::Place place : open_->lists().reads_of(problem_.txn[n]))
    if (!appended_->shows(place)) found.push_back({OrderFault::Kind::list, n, kNone, kNone, place});
}

void OrderFaults::look_at_aggregates(Node n, std::vector<OrderFault>& found) {
  for (const OpenAggregate& one : open_->aggregates().of(problem_.txn[n])) {
    if (one.reads.size() != one.terms.keys().size()) continue;  // it is not listed
    std::vector<AggregateTerm> terms;
    std::vector<TxnId> met;
    bool possible = true;  // otherwise one of its reads is at fault by itself
    for (size_t k = 0; k < one.reads.size(); ++k) {
      const KeyId key = one.terms.keys()[k];
      const Node writer = current_[key].any;
      met.push_back(writer == kNone ? kNone : problem_.txn[writer]);
      terms.push_back(one.terms.left(met.back(), key));
      possible =
          possible && (one.reads[k] == kNone ||
                       std::ranges::binary_search(open_->all()[one.reads[k]].sources, met.back()));
    }
    if (!possible || one.terms.given(terms) != Match::no) continue;
    const auto index = static_cast<uint32_t>(&one - open_->aggregates().all().data());
    met_by_[index] = std::move(met);
    found.push_back({OrderFault::Kind::aggregate, n, kNone, index});
  }
}

void OrderFaults::hold(Vertex v, Node n, std::vector<OrderFault>& found) {
  for (const KeyId key : writes_of(n)) {
    Node& held = holder_[key];
    if (held != kNone && held != n) found.push_back({OrderFault::Kind::pair, held, n});
    if (events_.takes_hold(v)) held = n;
  }
}

void OrderFaults::install(Node n) {
  note_commit(n);
  if (appended_) appended_->append(problem_.txn[n]);
  for (const KeyId key : writes_of(n)) {
    current_[key].any = n;
    if (!is_possible(n)) current_[key].certain = n;
    if (!holder_.empty() && holder_[key] == n) holder_[key] = kNone;
  }
}

void OrderFaults::note_commit(Node n) {
  if (!begins_bind_) return;
  const History& h = events_.history();
  const auto end = [&](Node m) { return event_time(h, problem_.txn[m], true).request; };
  if (!event_time(h, problem_.txn[n], true).known()) return;
  Node& own = latest_of_[h.session(problem_.txn[n])];
  if (latest_ == kNone || end(latest_) < end(n)) latest_ = n;
  if (own == kNone || end(own) < end(n)) own = n;
}

// In the known graph no event waits for the begin of a transaction that need not take effect.
void OrderFaults::look_at_clock(Node n, std::vector<OrderFault>& found) const {
  if (!begins_bind_ || !is_possible(n)) return;
  const History& h = events_.history();
  const Interval begin = event_time(h, problem_.txn[n], false);
  if (!begin.known()) return;
  const auto comes_late = [&](Node other, int64_t over) {
    return other != kNone && over < event_time(h, problem_.txn[other], true).request;
  };
  const Node own = latest_of_[h.session(problem_.txn[n])];  // by the same clock
  if (comes_late(latest_, last_overlap(h, begin.response))) {
    found.push_back({OrderFault::Kind::time, n, latest_});
  } else if (comes_late(own, begin.response)) {
    found.push_back({OrderFault::Kind::time, n, own});
  }
}

}  // namespace assay::internal
