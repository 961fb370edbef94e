// Which version orders are forced?
//
// A writer T2 of x must precede the writer T1 that a reader S of x saw, if T2 reaches S by known
// edges: the other order would make S read an overwritten version.
//
//   s1: { w(x,1) }          T1
//   s2: { w(x,2) w(y,1) }   T2
//   s3: { r(y,1) r(x,1) }   S: T2 → S by y, S reads x from T1, so T2's x precedes T1's
//
// Three rules, on events, to a fixpoint (tgt is where a write dependency arrives,
// EventGraph::overwrite_event):
//   R1  T2 → S, S reads x from T1                 ⇒ T2 before T1: edge w(T2) → tgt(T1)
//   R2  U's tgt → w(W), both write x              ⇒ U before W:   edge w(U) → tgt(W)
//   R3  the same, and R reads x from U            ⇒ edge r(R) → w(W)
// R1 is PolySI's rule for anti-dependencies, R2 that for write dependencies, R3 what PolySI adds with both; but PolySI
// looks for R2 from w(U) on, tgt(U) = r(U) comes with Viper's graph. Each has a switch.
// They contain PolySI's pruning (a pair is decided as soon as one side closes a cycle) and Cobra's
// chains: a transaction that reads and overwrites a version gets the write dependency from its own
// read.
//
// Reachability without a matrix: sessions are chains, so what reaches a vertex is one number a
// session, the last place of that chain that reaches it (a *clock*). In one chain only the last
// writer of x matters, the ones before it are ordered by the session. So the rules look, for each
// read and each write, at one writer a session, found by binary search, and add an edge only when
// the clocks do not show it already.
//
// Rounds: a sweep in topological order carries grown clocks along edges and applies the rules to
// the entries that grew; then the edges found are inserted (the order is repaired, or a cycle is
// met), and their heads are where the next sweep starts. Later rounds touch few vertices.
//
// Cost: (edges + reads + writes) × sessions for the first round, then what changes. Memory:
// vertices × sessions words. Sources: PolySI (PVLDB 2023) for the rules, dbcop (OOPSLA 2019) for
// sessions as chains.

#include "infer/saturation.h"

#include <algorithm>
#include <bit>

namespace assay::internal {
namespace {

constexpr uint64_t kMaxClockWords = uint64_t{1} << 30;  // 4 GiB
// Clocks of sessions of a few transactions grow with the square of these: beyond this many words they have to be longer.
constexpr uint64_t kManyClockWords = uint64_t{1} << 24;
constexpr uint32_t kLongEnough = 8;

}  // namespace

Saturation::Saturation(const EventGraph& events, IncrementalOrder& order, KnownEdges& known,
                       SaturationRules rules)
    : events_(events), problem_(events.problem()), order_(order), known_(known), rules_(rules) {
  index_chains();
}

bool Saturation::affordable() const {
  const uint64_t words = uint64_t{chains_} * events_.graph().vertices();
  const bool long_enough = uint64_t{chains_} * kLongEnough <= problem_.nodes();
  return chains_ > 0 && words <= (long_enough ? kMaxClockWords : kManyClockWords);
}

void Saturation::index_chains() {
  chain_.assign(problem_.nodes(), kNone);
  chain_index_.assign(problem_.nodes(), 0);
  if (!events_.level().session_order) return;
  for (const std::vector<Node>& session : problem_.sessions) {
    uint32_t next = 0;
    for (Node n : session) {
      if (!events_.committed(n)) continue;
      chain_[n] = chains_;
      chain_index_[n] = next++;
    }
    if (next > 0) ++chains_;
  }
}

// Marks number the events of a chain from 1; a clock entry holds the greatest mark that reaches.
uint32_t Saturation::read_mark(Node n) const {
  return events_.split() ? 2 * chain_index_[n] + 1 : chain_index_[n] + 1;
}
uint32_t Saturation::write_mark(Node n) const {
  return events_.split() ? 2 * chain_index_[n] + 2 : chain_index_[n] + 1;
}
uint32_t Saturation::overwrite_mark(Node n) const {
  return events_.overwrite_event(n) == events_.read_event(n) ? read_mark(n) : write_mark(n);
}

// Where R2 and R3 start: at the event where a write dependency arrives, or at the commit.
uint32_t Saturation::start_mark(Node n) const {
  return rules_.begins ? overwrite_mark(n) : write_mark(n);
}
uint32_t Saturation::starts_within(uint32_t mark) const {
  return rules_.begins ? overwrites_within(mark) : writes_within(mark);
}

void Saturation::index_segments() {
  previous_.assign(problem_.writes.size(), kNone);
  segment_writes_.reserve(problem_.writes.size());
  std::vector<WriteId> sorted;
  for (KeyId key = 0; key < problem_.keys(); ++key) {
    sorted.clear();
    for (WriteId write : problem_.key_writers(key)) {
      if (on_chain(problem_.writes.node[write])) sorted.push_back(write);
    }
    std::sort(sorted.begin(), sorted.end(), [this](WriteId a, WriteId b) {
      const Node na = problem_.writes.node[a];
      const Node nb = problem_.writes.node[b];
      return chain_[na] != chain_[nb] ? chain_[na] < chain_[nb]
                                      : chain_index_[na] < chain_index_[nb];
    });
    for (size_t i = 0; i < sorted.size(); ++i) {
      const uint32_t chain = chain_[problem_.writes.node[sorted[i]]];
      const uint32_t at = static_cast<uint32_t>(segment_writes_.size());
      if (i == 0 || chain != segments_.items.back().chain) {
        segments_.items.push_back({chain, at, at});
      } else {
        previous_[sorted[i]] = sorted[i - 1];
      }
      segment_writes_.push_back(sorted[i]);
      segment_index_.push_back(chain_index_[problem_.writes.node[sorted[i]]]);
      ++segments_.items.back().end;
    }
    segments_.begin.push_back(static_cast<uint32_t>(segments_.items.size()));
  }
}

bool Saturation::reaches(Node n, bool write, Vertex v) const {
  return clock(v)[chain_[n]] >= (write ? write_mark(n) : read_mark(n));
}

// How many places of a chain have their write event, or the event where a write dependency arrives, within `mark`.
uint32_t Saturation::writes_within(uint32_t mark) const {
  return events_.split() ? mark / 2 : mark;
}
uint32_t Saturation::overwrites_within(uint32_t mark) const {
  const bool at_read = events_.split() && events_.level().write_conflict;
  return at_read ? (mark + 1) / 2 : writes_within(mark);
}

// The last write of the segment whose place in the chain is below `index_bound`; kNone if there is none.
WriteId Saturation::last_within(const Segment& segment, uint32_t index_bound) const {
  const auto begin = segment_index_.begin() + segment.begin;
  const auto end = segment_index_.begin() + segment.end;
  const auto it = std::lower_bound(begin, end, index_bound);
  return it == begin ? kNone
                     : segment_writes_[static_cast<size_t>(it - segment_index_.begin()) - 1];
}

void Saturation::last_writers_before(Node reader, KeyId key, std::vector<Node>& writers) const {
  writers.clear();
  const uint32_t* before = clock(events_.read_event(reader));
  for (const Segment& segment : segments_[key]) {
    uint32_t bound = writes_within(before[segment.chain]);
    if (segment.chain == chain_[reader]) bound = std::min(bound, chain_index_[reader]);
    if (const WriteId write = last_within(segment, bound); write != kNone)
      writers.push_back(problem_.writes.node[write]);
  }
}

Saturation::Result Saturation::run(Budget& budget) {
  const size_t vertices = events_.graph().vertices();
  constexpr uint64_t kBytesAWrite = 12;  // segments
  if (!budget.has_room(sizeof(uint32_t) * (vertices + events_.events()) * chains_ +
                       kBytesAWrite * problem_.writes.size() + 2 * sizeof(Vertex) * vertices))
    return Result::out_of_budget;
  index_segments();
  clocks_.assign(vertices * chains_, 0);
  examined_.assign(events_.events() * chains_, 0);
  queued_.assign(vertices, 1);
  dirty_.assign(vertices / 64 + 1, 0);
  for (Node n = 0; n < problem_.nodes(); ++n) {
    if (!on_chain(n)) continue;
    clock(events_.read_event(n))[chain_[n]] = read_mark(n);
    clock(events_.write_event(n))[chain_[n]] = write_mark(n);
  }
  // The first sweep looks at everything.
  for (Vertex v = 0; v < vertices; ++v) dirty_vertices_.push_back(v);
  while (!dirty_vertices_.empty()) {
    ++rounds_;
    if (!sweep(budget)) return Result::out_of_budget;
    if (!insert_candidates()) return Result::cycle;
  }
  return Result::fixpoint;
}

bool Saturation::sweep(Budget& budget) {
  for (Vertex v : dirty_vertices_) {
    set_dirty(v);
    queued_[v] = 0;
  }
  dirty_vertices_.clear();
  for (size_t word = 0; word < dirty_.size(); ++word) {
    while (dirty_[word] != 0) {  // what is pushed stands later, in this word or beyond
      const uint32_t bit = static_cast<uint32_t>(std::countr_zero(dirty_[word]));
      dirty_[word] &= dirty_[word] - 1;
      const Vertex v = order_.order()[word * 64 + bit];
      if (events_.is_event(v)) apply_rules(v);
      events_.graph().each_out(v, [&](Vertex next) {
        push_clock(v, next);
        return true;
      });
      if (budget.exhausted()) return false;
    }
  }
  return true;
}

void Saturation::set_dirty(Vertex v) {
  const uint32_t position = order_.position(v);
  dirty_[position / 64] |= uint64_t{1} << (position % 64);
}

// Takes what reaches `from` over to `to`; true if `to` gained anything.
bool Saturation::join(Vertex from, Vertex to) {
  const uint32_t* source = clock(from);
  uint32_t* target = clock(to);
  uint32_t news = 0;
  for (uint32_t c = 0; c < chains_; ++c) {
    const uint32_t joined = std::max(source[c], target[c]);
    news |= joined ^ target[c];
    target[c] = joined;
  }
  return news != 0;
}

void Saturation::push_clock(Vertex from, Vertex to) {
  if (join(from, to)) set_dirty(to);
}

void Saturation::apply_rules(Vertex v) {
  const Node n = events_.node_of(v);
  uint32_t* before = examined_.data() + size_t{v} * chains_;
  if (v == events_.read_event(n) && rules_.anti_dependencies) {
    for (const ExternalRead& read : problem_.reads[n]) {
      if (read.write != kNone) earlier_writers_of_read(n, read, before);
    }
  }
  if (v == events_.write_event(n) && rules_.write_dependencies) {
    for (const WriteId w : problem_.writes.of(n)) {
      earlier_writers_of_write(w, before);
    }
  }
  if (v == events_.write_event(n) && !rules_.write_dependencies && rules_.combined_writes) {
    combine_writes(n);
  }
  std::copy_n(clock(v), chains_, before);
}

// R1.
void Saturation::earlier_writers_of_read(Node reader, const ExternalRead& read,
                                         const uint32_t* before) {
  const Node source = problem_.writes.node[read.write];
  const uint32_t* now = clock(events_.read_event(reader));
  const uint32_t* known = clock(events_.overwrite_event(source));
  for (const Segment& segment : segments_[read.key]) {
    const uint32_t chain = segment.chain;
    if (now[chain] == before[chain]) continue;
    uint32_t bound = writes_within(now[chain]);
    if (!events_.split() && chain == chain_[reader]) --bound;  // not the reader itself
    const WriteId earlier = last_within(segment, bound);
    if (earlier == kNone || earlier == read.write) continue;
    const Node writer = problem_.writes.node[earlier];
    if (known[chain] >= write_mark(writer)) continue;
    Candidate c;
    c.forced.before = writer;
    c.forced.after = source;
    c.forced.key = read.key;
    c.forced.reader = reader;
    c.edge.arc = {events_.write_event(writer), events_.overwrite_event(source)};
    c.edge.key = read.key;
    candidates_.push_back(c);
    if (!rules_.write_dependencies) readers_precede(earlier, read.write, reader);  // else R3 does
  }
}

// R3 for writers that read what they overwrite.
void Saturation::combine_writes(Node n) {
  for (const ExternalRead& read : problem_.reads[n]) {
    if (read.write == kNone || !on_chain(problem_.writes.node[read.write])) continue;
    const WriteId own = problem_.write_of(n, read.key);
    if (own != kNone) readers_precede(read.write, own);
  }
}

// R2 and R3.
void Saturation::earlier_writers_of_write(WriteId write, const uint32_t* before) {
  const Node n = problem_.writes.node[write];
  const KeyId key = problem_.writes.key[write];
  const uint32_t* now = clock(events_.write_event(n));
  for (const Segment& segment : segments_[key]) {
    const uint32_t chain = segment.chain;
    if (now[chain] == before[chain]) continue;
    uint32_t bound = starts_within(now[chain]);
    if (chain == chain_[n]) bound = std::min(bound, chain_index_[n]);
    const WriteId earlier = last_within(segment, bound);
    if (earlier == kNone || earlier == write) continue;
    const Node writer = problem_.writes.node[earlier];
    if (before[chain] >= start_mark(writer) && chain != chain_[n]) continue;  // seen last time
    if (clock(events_.overwrite_event(n))[chain] < write_mark(writer)) {
      Candidate c;
      c.forced.before = writer;
      c.forced.after = n;
      c.forced.key = key;
      c.edge.arc = {events_.write_event(writer), events_.overwrite_event(n)};
      c.edge.key = key;
      candidates_.push_back(c);
    }
    const WriteId previous = previous_[write];
    const bool done_before =
        previous != kNone && previous != earlier &&
        clock(events_.write_event(problem_.writes.node[previous]))[chain] >= start_mark(writer);
    if (!done_before) readers_precede(earlier, write);
  }
}

// `shown_by` is the reader of R1; kNone: the order of the writers follows from what reaches the later one.
void Saturation::readers_precede(WriteId earlier, WriteId write, Node shown_by) {
  const Node n = problem_.writes.node[write];
  const uint32_t* now = clock(events_.write_event(n));
  for (Node reader : problem_.readers[earlier]) {
    if (reader == n) continue;
    if (on_chain(reader) && now[chain_[reader]] >= read_mark(reader)) continue;
    Candidate c;
    c.forced.before = problem_.writes.node[earlier];
    c.forced.after = n;
    c.forced.key = problem_.writes.key[write];
    c.forced.reader = shown_by;
    c.edge.arc = {events_.read_event(reader), events_.write_event(n)};
    c.edge.kind = EdgeKind::anti_dependency;
    c.edge.key = c.forced.key;
    c.edge.reader = reader;
    candidates_.push_back(c);
  }
}

// Inserts what the sweep found. False if an edge closes a cycle.
bool Saturation::insert_candidates() {
  const uint32_t edges_known = static_cast<uint32_t>(known_.edges.size());
  for (Candidate& c : candidates_) {
    const Node from = events_.node_of(c.edge.arc.from);
    const bool writes = events_.is_write_event(c.edge.arc.from);
    const uint32_t mark = writes ? write_mark(from) : read_mark(from);
    if (on_chain(from) && clock(c.edge.arc.to)[chain_[from]] >= mark) continue;
    c.forced.edges_known = edges_known;
    c.edge.forced = static_cast<uint32_t>(known_.forced.size());
    known_.forced.push_back(c.forced);
    known_.edges.push_back(c.edge);
    if (!order_.insert(c.edge.arc)) return false;
    const Vertex head = c.edge.arc.to;
    if (join(c.edge.arc.from, head) && !queued_[head]) {
      queued_[head] = 1;
      dirty_vertices_.push_back(head);
    }
  }
  candidates_.clear();
  return true;
}

}  // namespace assay::internal
