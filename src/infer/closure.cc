// Which events reach which, as rows of bits: for sessions that are not chains, where
// session_clocks.cc has nothing to go on.
//
//   order a b c d, edges a→b, b→d, c→d:    reached by  a: a   b: a b   c: c   d: a b c d
//
// A matrix of a whole history would be too large, so a window slides over a topological order: each
// row says which of the vertices shortly before it, no more than fit into the window, reach it, and
// only the rows of the window are kept. Every path between two vertices of a window stays within
// it, so for these the rows are exact. Few transactions overlap, so most orders that can be derived
// are between neighbours, and orders between distant events follow from those. Orders that do not
// follow are missed and left to the search. A version usually lives for as long as there are
// transactions to one writer of its key, and the window is a few such lives long.
//
// A row is put together from those of the vertices that edges come from, the latest first. A vertex
// that is in the row by then, because it reaches a later one, has nothing to add; most edges cost a
// look at one bit. An edge that is derived while the window passes is added to the rows at once.
//
// An edge between two writers of a key is worth adding only if there is no path yet. Of the writers
// that reach an event, only those that reach no other such writer are therefore considered.
//
// Cost: for an edge that says something new, one word for every 64 vertices of the window. Memory:
// one bit for every pair of vertices in the window, 128 MiB at most. Blocking a transitive closure
// is folklore ("the four Russians", Arlazarov et al. 1970).

#include "infer/closure.h"

#include <algorithm>
#include <functional>

namespace assay::internal {
namespace {

constexpr uint32_t kLeast = uint32_t{1} << 13, kMost = uint32_t{1} << 15;  // vertices
constexpr uint64_t kLives = 4;

uint32_t window_for(const EventGraph& events, uint32_t most) {
  const Problem& problem = events.problem();
  const uint64_t life =
      uint64_t{events.events()} * problem.keys() / std::max<size_t>(1, problem.writes.size());
  const uint64_t wanted = std::clamp<uint64_t>(kLives * life, kLeast, kMost);
  return static_cast<uint32_t>(
      std::max<uint64_t>(1, std::min<uint64_t>({wanted, events.graph().vertices(), most})));
}

}  // namespace

Closure::Closure(const EventGraph& events, uint32_t most)
    : events_(events),
      problem_(events.problem()),
      window_(window_for(events, most)),
      words_(window_ / 64 + 2) {}

bool Closure::start(std::span<const Vertex> order, Budget& budget) {
  const uint64_t bytes = sizeof(uint64_t) * words_ * window_ + sizeof(uint32_t) * order.size() +
                         sizeof(WriteId) * (problem_.writes.size() + problem_.keys());
  if (rows_.empty() && !budget.has_room(bytes)) return false;
  rows_.resize(size_t{words_} * window_);
  place_.resize(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) place_[order[i]] = 64 * words_ + i;
  visited_.resize(problem_.writes.size());
  visited_count_.assign(problem_.keys(), 0);
  return true;
}

void Closure::visit(Vertex v) {
  now_ = place_[v];
  std::fill_n(row(now_), words_, 0);
  row(now_)[words_ - 1] |= uint64_t{1} << (now_ % 64);
  sources_.clear();
  events_.graph().each_in(v, [&](Vertex from) {
    if (holds(from) && place_[from] < now_) sources_.push_back(place_[from]);
    return true;
  });
  std::sort(sources_.begin(), sources_.end(), std::greater<>());
  for (const uint32_t from : sources_)
    if (!has(now_, from)) join(from, now_);
  if (!events_.overwrites(v)) return;
  for (const WriteId write : problem_.writes.of(events_.node_of(v))) {
    const KeyId key = problem_.writes.key[write];
    visited_[problem_.writes.of_key.begin[key] + visited_count_[key]++] = write;
  }
}

void Closure::note(Arc arc) {
  const uint32_t from = place_[arc.from], to = place_[arc.to];
  if (from > to) return;  // the next order will include it
  join(from, to);
  if (has(now_, to)) join(from, now_);
}

void Closure::join(uint32_t from, uint32_t to) {
  const uint32_t begin = first_word(to);
  if (from / 64 < begin) return;
  const uint64_t* source = row(from) + (begin - first_word(from));
  uint64_t* target = row(to);
  const uint32_t count = from / 64 - begin + 1;
  for (uint32_t i = 0; i < count; ++i) target[i] |= source[i];
}

// The latest first; a writer that reaches one found before it is left out.
void Closure::find_writers(KeyId key, Vertex v, bool from_overwrites) {
  found_.clear();
  const Node n = events_.node_of(v);
  const WriteId* first = visited_.data() + problem_.writes.of_key.begin[key];
  for (const WriteId* write = first + visited_count_[key]; write != first;) {
    --write;
    const Node earlier = problem_.writes.node[*write];
    const Vertex written = events_.write_event(earlier), arrived = events_.overwrite_event(earlier);
    if (!holds(arrived)) break;
    if (earlier == n || !reaches(from_overwrites ? arrived : written, v)) continue;
    const bool reaches_another = std::ranges::any_of(found_, [&](WriteId later) {
      const Vertex other = events_.write_event(problem_.writes.node[later]);
      return place_[other] <= now_ && reaches(written, other);
    });
    if (!reaches_another) found_.push_back(*write);
  }
}

}  // namespace assay::internal
