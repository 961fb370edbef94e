// An order in which a transaction comes as soon as what it read is there.
//
//   s1: A { w(x,1) }   s2: B { r(x,2) w(y,1) }   s3: C { w(x,2) }   s4: D { w(x,1) }
//   A B C D is the guess; B waits until C has left a 2: A C B D
//
// At a weak level a transaction that comes early spoils nothing for the others: a read may see any
// version that is not older than what its reader has seen, however many came after it. So any
// transaction goes next whose predecessors have gone and whose reads have sources among the ones
// that have gone; if several may, the guess says which. A transaction that may not go waits for the
// nearest source of a read that has none yet. When all wait, they are tried again, and then the
// first of them goes unexplained.
//
// At read committed, which compares only the sources of one transaction with each other, this
// explains nearly every read that anything explains. At causal consistency it is a guess: what a
// source has seen, its readers have seen.
//
// Cost: a look at the reads of each transaction when it may go, when what it waits for has gone,
// and when all wait, the last a fixed number of times. List scheduling; no paper.

#include "levels/explained_order.h"

#include <functional>
#include <queue>
#include <set>

namespace assay::internal {
namespace {

class Scheduling {
 public:
  Scheduling(const Digraph& graph, std::span<const Vertex> order, const OpenReads& open,
             WaitingSources& waiting)
      : graph_(graph),
        order_(order),
        open_(open),
        waiting_(waiting),
        rank_(order.size()),
        place_(order.size(), kNone),
        predecessors_(order.size(), 0),
        waits_for_(order.size(), kNone),
        first_waiting_(order.size(), kNone),
        next_waiting_(order.size(), kNone) {
    for (uint32_t i = 0; i < order.size(); ++i) rank_[order[i]] = i;
    for (Vertex v = 0; v < order.size(); ++v)
      graph.each_out(v, [&](Vertex next) { return ++predecessors_[next] > 0; });
    for (Vertex v = 0; v < order.size(); ++v)
      if (predecessors_[v] == 0) ready_.push(rank_[v]);
  }

  std::vector<Vertex> run() {
    while (done_.size() < order_.size()) {
      if (!ready_.empty()) {
        const Vertex v = order_[ready_.top()];
        ready_.pop();
        if (place_[v] == kNone) try_next(v);
      } else if (tries_again_ > 0) {
        --tries_again_;
        for (const uint32_t rank : waiting_ranks_) ready_.push(rank);
      } else {
        go(order_[*waiting_ranks_.begin()]);
      }
    }
    return std::move(done_);
  }

 private:
  void try_next(Vertex v) {
    place_[v] = static_cast<uint32_t>(done_.size());
    const std::optional<uint32_t> read = waiting_.unexplained_read(v, place_);
    if (!read) return go(v);
    place_[v] = kNone;
    waiting_ranks_.insert(rank_[v]);
    wait(v, nearest_source(open_.all()[*read]));
  }
  // The nearest source that has not gone.
  Vertex nearest_source(const OpenRead& read) const {
    Vertex nearest = kNone;
    for (const TxnId t : read.sources)
      if (t != kNone && place_[t] == kNone && (nearest == kNone || rank_[t] < rank_[nearest]))
        nearest = t;
    return nearest;
  }
  void wait(Vertex v, Vertex source) {
    if (source == kNone || waits_for_[v] == source) return;
    if (waits_for_[v] != kNone && place_[waits_for_[v]] == kNone) return;  // still in that list
    waits_for_[v] = source;
    next_waiting_[v] = first_waiting_[source];
    first_waiting_[source] = v;
  }
  void go(Vertex v) {
    place_[v] = static_cast<uint32_t>(done_.size());
    done_.push_back(v);
    waiting_ranks_.erase(rank_[v]);
    graph_.each_out(v, [&](Vertex next) {
      if (--predecessors_[next] == 0) ready_.push(rank_[next]);
      return true;
    });
    for (Vertex w = first_waiting_[v]; w != kNone; w = next_waiting_[w]) ready_.push(rank_[w]);
  }

  const Digraph& graph_;
  const std::span<const Vertex> order_;
  const OpenReads& open_;
  WaitingSources& waiting_;
  std::vector<uint32_t> rank_;          // indexed by vertex: its place in the guess
  std::vector<uint32_t> place_;         // indexed by vertex; kNone: it has not gone
  std::vector<uint32_t> predecessors_;  // indexed by vertex: the number that have not gone
  std::vector<Vertex> waits_for_;       // indexed by vertex; kNone: it waits for none
  // Lists of the vertices that wait for a vertex.
  std::vector<Vertex> first_waiting_, next_waiting_;
  std::set<uint32_t> waiting_ranks_;
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready_;  // holds ranks
  std::vector<Vertex> done_;
  uint32_t tries_again_ = 8;
};

}  // namespace

std::vector<Vertex> explained_order(const Digraph& graph, std::span<const Vertex> order,
                                    const OpenReads& open, WaitingSources& waiting) {
  return Scheduling(graph, order, open, waiting).run();
}

}  // namespace assay::internal
