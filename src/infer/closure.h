// Which events reach which by known edges, as rows of bits over a window. See closure.cc.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assay/budget.h"
#include "infer/event_graph.h"

namespace assay::internal {

class Closure {
 public:
  // `most`: the largest number of vertices in the window.
  Closure(const EventGraph& events, uint32_t most);

  // Starts a sweep over all vertices in this order, which must be topological. False if there is no
  // memory.
  bool start(std::span<const Vertex> order, Budget& budget);
  // Goes on to `v`, the next vertex of the order: from now on it is known what reaches it.
  void visit(Vertex v);
  // To be called when an edge was added to the graph. Its head must be a vertex that was visited.
  void note(Arc arc);

  // Whether known edges lead from an event to `v`, which the window must hold.
  bool reaches(Vertex event, Vertex v) const { return has(place_[v], place_[event]); }

  // The interface for the rules of saturation (saturation.cc).
  bool holds(Vertex v) const { return place_[v] + window_ > now_; }
  // Calls visit(write, true) for each writer of the key, except v's own node, whose write event
  // reaches the event `v` and reaches no other such writer. `from_overwrites`: instead of the write
  // event, the event at which a write dependency arrives must reach `v`. `own` is not needed here.
  template <class Visit>
  void each_earlier(KeyId key, Vertex v, bool from_overwrites, WriteId own, Visit visit);
  void note_examined(Vertex) {}

 private:
  // A row ends with the word of its vertex, and begins words_ - 1 words before.
  uint32_t first_word(uint32_t place) const { return place / 64 - (words_ - 1); }
  uint64_t* row(uint32_t place) { return rows_.data() + size_t{place % window_} * words_; }
  const uint64_t* row(uint32_t place) const {
    return rows_.data() + size_t{place % window_} * words_;
  }
  bool has(uint32_t to, uint32_t from) const {
    if (from > to || from / 64 < first_word(to)) return false;
    return (row(to)[from / 64 - first_word(to)] >> (from % 64) & 1) != 0;
  }
  void join(uint32_t from, uint32_t to);
  void find_writers(KeyId key, Vertex v, bool from_overwrites);

  const EventGraph& events_;
  const Problem& problem_;
  const uint32_t window_;  // vertices that have a row
  const uint32_t words_;   // words of a row
  uint32_t now_ = 0;       // the place of the vertex visited last
  // Indexed by vertex: its place in the order plus the length of a row, so every row begins at a
  // word.
  std::vector<uint32_t> place_;
  // Rows of the last vertices; the row of a place is at the place modulo window_.
  std::vector<uint64_t> rows_;
  // Per key, in the section of the key's writes in Writes::of_key: those whose node's event at
  // which a write dependency arrives was visited, in this order; and their number.
  std::vector<WriteId> visited_;
  std::vector<uint32_t> visited_count_;
  std::vector<uint32_t> sources_;  // scratch
  std::vector<WriteId> found_;     // scratch
};

template <class Visit>
void Closure::each_earlier(KeyId key, Vertex v, bool from_overwrites, WriteId, Visit visit) {
  find_writers(key, v, from_overwrites);
  for (const WriteId write : found_) visit(write, true);
}

}  // namespace assay::internal
