// Reachability where sessions are no chains: a matrix of bits, in blocks of events that are neighbours in a topological
// order.
//
//   order a b c d, edges a→b, b→d, c→d:    reached by  a: a   b: a b   c: c   d: a b c d
//
// Few transactions overlap, so whom an event depends on stands near it, and what is forced between two events that are far
// apart follows from what is forced between neighbours. A path between two events of a block runs through the block, so of
// these the matrix knows everything. Blocks overlap by half, so that whatever lies within half a block is together in one.
//
// An edge between two writers of a key is worth knowing only if no path has it already. So of the writers that have come to
// reach an event only the last ones count, those that reach no other of them.
//
// Cost of an edge: a word for 64 events of a block. Memory: two bits for each pair of vertices of a block, 64 MB at most. Blocked transitive closure is
// folklore ("the four Russians", Arlazarov et al. 1970).

#include "infer/closure.h"

#include <algorithm>

namespace assay::internal {

// Rules ask for the events of writers, and for readers of what they wrote.
bool Closure::needs_column(Vertex v) const {
  const Node n = events_.node_of(v);
  if (!events_.is_event(v)) return false;
  const bool reads = !problem_.reads[n].empty(), writes = !problem_.writes.of(n).empty();
  return (events_.reads(v) && reads) || (writes && (events_.writes(v) || events_.overwrites(v)));
}

bool Closure::start(std::span<const Vertex> block, Budget& budget) {
  const size_t vertices = events_.graph().vertices();
  size_t writes = 0;
  uint32_t columns = 0;
  column_.clear();
  for (const Vertex v : block) {
    column_.push_back(needs_column(v) ? columns++ : kNone);
    if (events_.writes(v)) writes += problem_.writes.of(events_.node_of(v)).size();
  }
  words_ = (columns + 63) / 64;
  if (!budget.has_room(sizeof(uint32_t) * vertices + 2 * sizeof(uint64_t) * words_ * block.size() +
                       sizeof(Writer) * writes))
    return false;
  row_.assign(vertices, kNone);
  for (uint32_t i = 0; i < block.size(); ++i) row_[block[i]] = i;
  rows_.assign(words_ * block.size(), 0);
  examined_.assign(words_ * block.size(), 0);
  for (const Vertex v : block) {
    const uint32_t column = column_[row_[v]];
    if (column != kNone) row(v)[column / 64] |= uint64_t{1} << column % 64;
  }
  writers_.clear();
  writers_.reserve(writes);
  index_writers(block);
  return true;
}

void Closure::index_writers(std::span<const Vertex> block) {
  for (const Vertex v : block) {
    if (!events_.writes(v)) continue;
    const Node n = events_.node_of(v);
    if (!holds(events_.overwrite_event(n))) continue;
    for (const WriteId write : problem_.writes.of(n))
      writers_.push_back({problem_.writes.key[write], row_[v], write});
  }
  std::sort(writers_.begin(), writers_.end(), [](const Writer& a, const Writer& b) {
    return a.key != b.key ? a.key < b.key : a.row < b.row;
  });
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

// From the last on, as they stood when the block began; one that reaches a later one is left out.
void Closure::find_new_writers(KeyId key, Vertex v, bool from_overwrites) {
  found_.clear();
  const uint64_t* now = row(v);
  const uint64_t* before = examined(v);
  const Node n = events_.node_of(v);
  const auto first = std::ranges::lower_bound(writers_, key, {}, &Writer::key);
  for (auto writer = std::ranges::upper_bound(writers_, key, {}, &Writer::key); writer != first;) {
    --writer;
    const Node earlier = problem_.writes.node[writer->write];
    const uint32_t column =
        from_overwrites ? column_[row_[events_.overwrite_event(earlier)]] : column_[writer->row];
    if (!has(now, column) || has(before, column) || earlier == n) continue;
    const Vertex written = events_.write_event(earlier);
    const bool reaches_another = std::ranges::any_of(found_, [&](WriteId later) {
      return reaches(written, events_.write_event(problem_.writes.node[later]));
    });
    if (!reaches_another) found_.push_back(writer->write);
  }
}

}  // namespace assay::internal
