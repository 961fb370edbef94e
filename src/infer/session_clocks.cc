// Which events reach which, without a matrix. Sessions are chains, so one number per session says
// what reaches a vertex: the last place of the session that does. These numbers are the vertex's
// *clock*.
//
//   s1: T1 T2 T3   s2: T4 T5   T2 → T5:    the clock of T5 is s1: 2, s2: 2
//
// Of one session only the last writer of x matters, because the session orders the earlier ones
// before it. So the writers that come before an event are found by one binary search in each
// session.
//
// Memory, and the cost of an edge: one word for each session. Source: dbcop (OOPSLA 2019) for
// sessions as chains.

#include "infer/session_clocks.h"

namespace assay::internal {
namespace {

constexpr uint64_t kMaxClockWords = uint64_t{1} << 30;  // 4 GiB
// Clocks of sessions of a few transactions take space that grows with the square of the
// transactions: for more words than this, sessions have to be longer.
constexpr uint64_t kManyClockWords = uint64_t{1} << 24;
constexpr uint32_t kLongEnough = 8;

}  // namespace

SessionClocks::SessionClocks(const EventGraph& events)
    : events_(events), problem_(events.problem()) {
  index_chains();
}

bool SessionClocks::affordable() const {
  const uint64_t words = uint64_t{chains_} * events_.graph().vertices();
  const bool long_enough = uint64_t{chains_} * kLongEnough <= problem_.nodes();
  return chains_ > 0 && words <= (long_enough ? kMaxClockWords : kManyClockWords);
}

void SessionClocks::index_chains() {
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

bool SessionClocks::start(Budget& budget) {
  const size_t vertices = events_.graph().vertices();
  constexpr uint64_t kBytesAWrite = 12;  // memory of segments
  if (!budget.has_room(sizeof(uint32_t) * (vertices + events_.events()) * chains_ +
                       kBytesAWrite * problem_.writes.size()))
    return false;
  index_segments();
  clocks_.assign(vertices * chains_, 0);
  examined_.assign(events_.events() * chains_, 0);
  for (Node n = 0; n < problem_.nodes(); ++n) {
    if (!on_chain(n)) continue;
    clock(events_.read_event(n))[chain_[n]] = mark(n, false);
    clock(events_.write_event(n))[chain_[n]] = mark(n, true);
  }
  return true;
}

void SessionClocks::index_segments() {
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
    segments_.close();
  }
}

// The number of places of a chain whose write event, or event where a write dependency arrives, is
// within `mark`.
uint32_t SessionClocks::writes_within(uint32_t mark) const {
  return events_.split() ? mark / 2 : mark;
}
uint32_t SessionClocks::overwrites_within(uint32_t mark) const {
  const bool at_read = events_.split() && events_.level().write_conflict;
  return at_read ? (mark + 1) / 2 : writes_within(mark);
}

// The last write of the segment whose place in the chain is less than `index_bound`; kNone if there
// is none.
WriteId SessionClocks::last_within(const Segment& segment, uint32_t index_bound) const {
  const auto begin = segment_index_.begin() + segment.begin;
  const auto end = segment_index_.begin() + segment.end;
  const auto it = std::lower_bound(begin, end, index_bound);
  return it == begin ? kNone
                     : segment_writes_[static_cast<size_t>(it - segment_index_.begin()) - 1];
}

void SessionClocks::last_writers_before(Node reader, KeyId key, std::vector<Node>& writers) const {
  writers.clear();
  const uint32_t* before = clock(events_.read_event(reader));
  for (const Segment& segment : segments_[key]) {
    uint32_t bound = writes_within(before[segment.chain]);
    if (segment.chain == chain_[reader]) bound = std::min(bound, chain_index_[reader]);
    if (const WriteId write = last_within(segment, bound); write != kNone)
      writers.push_back(problem_.writes.node[write]);
  }
}

bool SessionClocks::join(Vertex from, Vertex to) {
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

}  // namespace assay::internal
