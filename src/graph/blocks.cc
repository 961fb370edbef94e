// Which links lie on a common cycle?
//
// Two links are in the same block if some cycle without repeated vertices runs through both; a link
// on no cycle is a separate block. Blocks share single vertices only:
//
//   a - b - d      blocks {ab, bc, ca} and {bd}, which share b
//    \ /
//     c
//
// Hopcroft and Tarjan (1973): walk depth first; the links met since the walk went down v → w are a
// block once nothing below w leads above v. Links are kept on a stack, and so is the walk itself:
// recursion would be as deep as the graph is long. O(vertices + links).

#include "graph/blocks.h"

#include <algorithm>
#include <numeric>

namespace assay::internal {
namespace {

class BlockWalk {
 public:
  BlockWalk(size_t vertices, std::span<const Link> links)
      : links_(links), begin_(vertices + 1, 0), found_(vertices, 0), low_(vertices, 0) {
    for (const auto& [a, b] : links) {
      ++begin_[a];
      ++begin_[b];
    }
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    at_.resize(2 * links.size());
    for (uint32_t i = 0; i < links.size(); ++i) {
      at_[--begin_[links[i].first]] = i;
      at_[--begin_[links[i].second]] = i;
    }
    next_ = begin_;
    blocks_.of_link.assign(links.size(), 0);
  }

  Blocks run() {
    for (Vertex root = 0; root + 1 < begin_.size(); ++root) {
      if (found_[root] == 0) walk(root);
    }
    return std::move(blocks_);
  }

 private:
  static constexpr uint32_t kNoLink = 0xFFFFFFFF;
  struct Visit {
    Vertex vertex;
    uint32_t by;  // the link that led here
  };

  void enter(Vertex v, uint32_t by) {
    found_[v] = low_[v] = ++clock_;
    path_.push_back({v, by});
  }

  void walk(Vertex root) {
    enter(root, kNoLink);
    while (!path_.empty()) {
      const Visit visit = path_.back();
      const Vertex v = visit.vertex;
      if (next_[v] == begin_[v + 1]) {
        path_.pop_back();
        if (!path_.empty()) leave(v, path_.back().vertex, visit.by);
        continue;
      }
      const uint32_t link = at_[next_[v]++];
      const Vertex w = links_[link].first == v ? links_[link].second : links_[link].first;
      if (link == visit.by || found_[w] > found_[v]) continue;  // taken from the other end
      waiting_.push_back(link);
      if (found_[w] == 0) {
        enter(w, link);
      } else {
        low_[v] = std::min(low_[v], found_[w]);
      }
    }
  }

  void leave(Vertex v, Vertex parent, uint32_t by) {
    low_[parent] = std::min(low_[parent], low_[v]);
    if (low_[v] < found_[parent]) return;
    uint32_t link;
    do {
      link = waiting_.back();
      waiting_.pop_back();
      blocks_.of_link[link] = blocks_.count;
    } while (link != by);
    ++blocks_.count;
  }

  std::span<const Link> links_;
  std::vector<uint32_t> begin_, at_, next_;  // lists of the links at each vertex
  std::vector<uint32_t> found_,
      low_;  // indexed by vertex: when it was found, from 1; the earliest reached from below
  std::vector<Visit> path_;
  std::vector<uint32_t> waiting_;
  uint32_t clock_ = 0;
  Blocks blocks_;
};

}  // namespace

Blocks biconnected_components(size_t vertices, std::span<const Link> links) {
  return BlockWalk(vertices, links).run();
}

}  // namespace assay::internal
