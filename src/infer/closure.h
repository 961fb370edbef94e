// Which events of a block reach which by known edges, as a matrix of bits. See closure.cc.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/budget.h"
#include "infer/event_graph.h"

namespace assay::internal {

class Closure {
 public:
  explicit Closure(const EventGraph& events) : events_(events), problem_(events.problem()) {}

  // The number of vertices in a block.
  static constexpr uint32_t kBlock = uint32_t{1} << 14;

  // Starts a block, which replaces the one before it. `block` is a run of neighbours in a topological order of all vertices, in
  // that order. False if there is no room.
  bool start(std::span<const Vertex> block, Budget& budget);

  // Whether known edges lead from an event to `v`. Both must be in the block.
  bool reaches(Vertex event, Vertex v) const { return has(row(v), row_[event]); }

  // What the rules of saturation ask for (saturation.cc).
  bool holds(Vertex v) const { return row_[v] != kNone; }
  // Takes what reaches `from` over to `to`; true if `to` gained anything.
  bool join(Vertex from, Vertex to);
  // Calls visit(write, true) for each writer of the key, except v's own node, whose write event has come to reach the event `v`
  // since note_examined(v), leaving out those that reach another of them. `from_overwrites`: whose event at which a write
  // dependency arrives has. `own` is not needed here.
  template <class Visit>
  void each_earlier(KeyId key, Vertex v, bool from_overwrites, WriteId own, Visit visit);
  void note_examined(Vertex v);

 private:
  // A writer of a key, if both its events are in the block; its row is that of its write event.
  struct Writer {
    KeyId key;
    uint32_t row;
    WriteId write;
    auto operator<=>(const Writer&) const = default;
  };

  static bool has(const uint64_t* row, uint32_t bit) {
    return (row[bit / 64] >> (bit % 64) & 1) != 0;
  }
  uint64_t* row(Vertex v) { return rows_.data() + size_t{row_[v]} * words_; }
  const uint64_t* row(Vertex v) const { return rows_.data() + size_t{row_[v]} * words_; }
  uint64_t* examined(Vertex v) { return examined_.data() + size_t{row_[v]} * words_; }
  void find_new_writers(KeyId key, Vertex v, bool from_overwrites);

  const EventGraph& events_;
  const Problem& problem_;
  // Per vertex its row, which is also its bit in other rows; kNone: not in the block.
  std::vector<uint32_t> row_;
  size_t words_ = 0;  // of a row
  std::vector<uint64_t> rows_;
  std::vector<uint64_t> examined_;  // as rows_, when the rules last looked
  std::vector<Writer> writers_;     // by key, then row
  std::vector<WriteId> found_;      // scratch
};

template <class Visit>
void Closure::each_earlier(KeyId key, Vertex v, bool from_overwrites, WriteId, Visit visit) {
  find_new_writers(key, v, from_overwrites);
  for (const WriteId write : found_) visit(write, true);
}

}  // namespace assay::internal
