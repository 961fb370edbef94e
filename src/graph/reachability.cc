// Reachability for pairs that are known in advance, without a full matrix: at a time, 512 vertices
// that are neighbours in a topological order are the columns of a narrow matrix, and one sweep
// along the order propagates their bits.
//
//   order a b c d, edges a→c b→d, columns {a, b}:    a 10   b 01   c 10   d 01
//
// A sweep begins at its first column and ends at the last vertex of a pair, so pairs that are near
// each other in the order cost no more than the distance between them.
//
// Cost: edges × the columns in whose reach they lie / 64; for local pairs linear. Memory: 64 bytes
// a vertex. Blocking a transitive closure in this way is folklore ("the four Russians", Arlazarov
// et al. 1970, block it too).

#include "graph/reachability.h"

#include <algorithm>
#include <numeric>

namespace assay::internal {

Reachability::Reachability(const Digraph& graph, std::span<const Vertex> order)
    : graph_(graph), order_(order), place_(order.size()), columns_(order.size()) {
  for (uint32_t i = 0; i < order.size(); ++i) place_[order[i]] = i;
}

uint64_t Reachability::bytes(size_t vertices) {
  return (sizeof(uint32_t) + sizeof(Columns)) * vertices;
}

bool Reachability::answer(std::span<const Arc> pairs, std::vector<bool>& reached, Budget& budget) {
  reached.assign(pairs.size(), false);
  if (!budget.has_room(sizeof(uint32_t) * pairs.size())) return false;
  std::vector<uint32_t> asked(pairs.size());
  std::iota(asked.begin(), asked.end(), 0u);
  std::erase_if(asked, [&](uint32_t i) { return place_[pairs[i].from] > place_[pairs[i].to]; });
  const auto block = [&](uint32_t i) { return place_[pairs[i].from] / kColumns; };
  std::sort(asked.begin(), asked.end(), [&](uint32_t a, uint32_t b) {
    const uint32_t in_a = block(a), in_b = block(b);
    return in_a != in_b ? in_a < in_b : place_[pairs[a].to] < place_[pairs[b].to];
  });
  for (size_t begin = 0, end = 0; begin < asked.size(); begin = end) {
    while (end < asked.size() && block(asked[end]) == block(asked[begin])) ++end;
    if (!sweep({asked.data() + begin, end - begin}, pairs, reached, budget)) return false;
  }
  return true;
}

// `asked` are pairs from one block, sorted by the places of their ends.
bool Reachability::sweep(std::span<const uint32_t> asked, std::span<const Arc> pairs,
                         std::vector<bool>& reached, Budget& budget) {
  const uint32_t first = place_[pairs[asked[0]].from] / kColumns * kColumns;
  size_t next = 0;
  for (uint32_t at = first; next < asked.size(); ++at) {
    Columns& own = columns_[at] = {};
    if (at - first < kColumns) own.words[(at - first) / 64] = uint64_t{1} << (at - first) % 64;
    graph_.each_in(order_[at], [&](Vertex v) {
      if (place_[v] < first) return true;
      const Columns& other = columns_[place_[v]];
      for (uint32_t i = 0; i < kColumns / 64; ++i) own.words[i] |= other.words[i];
      return true;
    });
    for (; next < asked.size() && place_[pairs[asked[next]].to] == at; ++next) {
      const uint32_t column = place_[pairs[asked[next]].from] - first;
      reached[asked[next]] = (own.words[column / 64] >> column % 64 & 1) != 0;
    }
    if (budget.exhausted()) return false;
  }
  return true;
}

}  // namespace assay::internal
