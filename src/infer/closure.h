// What reaches an event by known edges, as a bit an event, of a block of neighbours. See closure.cc.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assay/budget.h"
#include "infer/event_graph.h"

namespace assay::internal {

class Closure {
 public:
  explicit Closure(const EventGraph& events) : events_(events), problem_(events.problem()) {}

  // Vertices of a block.
  static constexpr uint32_t kBlock = uint32_t{1} << 14;

  // Begins with a block: vertices that stand next to each other in a topological order, in that order. What is known of
  // another block is forgotten. False if there is no room.
  bool start(std::span<const Vertex> block, Budget& budget);

  // Whether known edges lead from an event to `v`. Both are in the block.
  bool reaches(Vertex event, Vertex v) const {
    const uint32_t column = column_[row_[event]];
    return column != kNone && has(row(v), column);
  }

  // What the rules of saturation ask for (saturation.cc).
  bool holds(Vertex v) const { return row_[v] != kNone; }
  // Takes what reaches `from` over to `to`; true if `to` gained anything.
  bool join(Vertex from, Vertex to);
  // Writers of the key in the block, `v`'s node aside, whose write event (or the event where a write dependency arrives) has
  // come to reach the event `v` since note_examined(v), but for those that reach another of them: visit(write, readers too).
  template <class Visit>
  void each_earlier(KeyId key, Vertex v, bool from_overwrites, WriteId own, Visit visit);
  void note_examined(Vertex v);

 private:
  // A writer of a key whose two events are in the block, at the place of its write event.
  struct Writer {
    KeyId key;
    uint32_t row;
    WriteId write;
  };

  bool needs_column(Vertex v) const;
  void index_writers(std::span<const Vertex> block);
  static bool has(const uint64_t* row, uint32_t column) {
    return (row[column / 64] >> (column % 64) & 1) != 0;
  }
  uint64_t* row(Vertex v) { return rows_.data() + size_t{row_[v]} * words_; }
  const uint64_t* row(Vertex v) const { return rows_.data() + size_t{row_[v]} * words_; }
  uint64_t* examined(Vertex v) { return examined_.data() + size_t{row_[v]} * words_; }
  void find_new_writers(KeyId key, Vertex v, bool from_overwrites);

  const EventGraph& events_;
  const Problem& problem_;
  std::vector<uint32_t> row_;     // per vertex its row; kNone: not in the block
  std::vector<uint32_t> column_;  // per row; kNone: nobody asks whether it reaches something
  size_t words_ = 0;              // of a row
  std::vector<uint64_t> rows_;
  std::vector<uint64_t> examined_;  // per row: what it was when the rules last looked
  std::vector<Writer> writers_;     // by key, then row
  std::vector<WriteId> found_;      // scratch
};

template <class Visit>
void Closure::each_earlier(KeyId key, Vertex v, bool from_overwrites, WriteId, Visit visit) {
  find_new_writers(key, v, from_overwrites);
  for (const WriteId write : found_) visit(write, true);
}

}  // namespace assay::internal
