// Which events reach which, as a matrix of bits: for sessions that are no chains, where session_clocks.cc has nothing to go on.
//
//   order a b c d, edges a→b, b→d, c→d:    reached by  a: a   b: a b   c: c   d: a b c d
//
// A matrix of a whole history would be too large, so it covers a block of events that are neighbours in a topological order.
// Every path between two events of a block stays within the block, so for these the matrix is exact. Few transactions overlap,
// so most orders that can be derived are between neighbours, and orders between distant events follow from those. Those that do
// not are missed, and left to the search. Blocks overlap by half: two events within half a block of each other share a block.
//
// An edge between two writers of a key is worth adding only if there is no path yet. Of the writers that newly reach an event,
// those that also reach another such writer are therefore left out.
//
// Cost of an edge: one word for every 64 events of a block. Memory: two bits for every pair of vertices in a block, 64 MiB at
// most. Blocking a transitive closure is folklore ("the four Russians", Arlazarov et al. 1970).

#include "infer/closure.h"

#include <algorithm>

namespace assay::internal {

bool Closure::start(std::span<const Vertex> block, Budget& budget) {
  const size_t vertices = events_.graph().vertices();
  words_ = (block.size() + 63) / 64;
  if (!budget.has_room(sizeof(uint32_t) * vertices + 2 * sizeof(uint64_t) * words_ * block.size() +
                       sizeof(Writer) * problem_.writes.size()))
    return false;
  row_.assign(vertices, kNone);
  for (uint32_t i = 0; i < block.size(); ++i) row_[block[i]] = i;
  rows_.assign(words_ * block.size(), 0);
  examined_.assign(words_ * block.size(), 0);
  writers_.clear();
  for (const Vertex v : block) {
    row(v)[row_[v] / 64] |= uint64_t{1} << row_[v] % 64;
    const Node n = events_.node_of(v);
    if (!events_.writes(v) || !holds(events_.overwrite_event(n))) continue;
    for (const WriteId write : problem_.writes.of(n))
      writers_.push_back({problem_.writes.key[write], row_[v], write});
  }
  std::sort(writers_.begin(), writers_.end());
  return true;
}

bool Closure::join(Vertex from, Vertex to) {
  const uint64_t* source = row(from);
  uint64_t* target = row(to);
  uint64_t news = 0;
  for (size_t i = 0; i < words_; ++i) {
    news |= source[i] & ~target[i];
    target[i] |= source[i];
  }
  return news != 0;
}

void Closure::note_examined(Vertex v) { std::copy_n(row(v), words_, examined(v)); }

// Latest first, by their places when the block was started; a writer that reaches one found before it is left out.
void Closure::find_new_writers(KeyId key, Vertex v, bool from_overwrites) {
  found_.clear();
  const uint64_t* now = row(v);
  const uint64_t* before = examined(v);
  const Node n = events_.node_of(v);
  const auto first = std::ranges::lower_bound(writers_, key, {}, &Writer::key);
  for (auto writer = std::ranges::upper_bound(writers_, key, {}, &Writer::key); writer != first;) {
    --writer;
    const Node earlier = problem_.writes.node[writer->write];
    const Vertex written = events_.write_event(earlier);
    const uint32_t bit = row_[from_overwrites ? events_.overwrite_event(earlier) : written];
    if (!has(now, bit) || has(before, bit) || earlier == n) continue;
    const bool reaches_another = std::ranges::any_of(found_, [&](WriteId later) {
      return reaches(written, events_.write_event(problem_.writes.node[later]));
    });
    if (!reaches_another) found_.push_back(writer->write);
  }
}

}  // namespace assay::internal
