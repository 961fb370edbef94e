// Finds orders of two writers that the reads of a history force, so the search need not find them
// by failing: a transaction that certainly precedes a reader of a version, and writes the same key,
// wrote it before that version was written.
//
//   s1: A { w(x,1) } B { w(y,1) }    s2: C { w(x,2) }    s3: D { r(y,1) r(x,2) }
//   A precedes B, and B precedes D who read from it. D read C's x and not A's, so A wrote x before
//   C.
//
// The known precedences are session order, reads-from, and the pairs found so far, so the rule is
// applied until it finds nothing more. The certain predecessors of a node are one number per chain
// (a vector clock), and in each chain only the last writer of the key matters. Cost per round:
// nodes + reads, each times chains, and a binary search; rounds are few. If there are many chains,
// the search does without these orders. The rule is the first of the saturation of Biswas and Enea
// (OOPSLA 2019), which the other engine implements in another form; the two share nothing.

#include "prefix_search/forced_orders.h"

#include <algorithm>
#include <span>

#include "infer/chain_writers.h"

namespace assay::internal {
namespace {

constexpr uint32_t kMostChains = 256;
constexpr int kMostRounds = 16;

class Forced {
 public:
  Forced(const Problem& problem, const Chains& chains, std::vector<std::pair<Node, Node>> known,
         bool ordered)
      : problem_(problem),
        chains_(chains),
        pairs_(std::move(known)),
        known_(pairs_.size()),
        ordered_(ordered),
        writers_(writers_by_chain(
            problem, [&](Node n) { return std::pair(chains.of[n], chains.place[n]); })) {}

  std::vector<std::pair<Node, Node>> run() {
    for (int round = 0; round < kMostRounds; ++round) {
      const size_t before = pairs_.size();
      if (!set_clocks()) break;  // a cycle: the search finds that nothing can happen
      for (Node n = 0; n < problem_.nodes(); ++n)
        for (const ExternalRead& read : problem_.reads[n]) look(n, read);
      if (pairs_.size() == before || !ordered_) break;
    }
    return {pairs_.begin() + static_cast<ptrdiff_t>(known_), pairs_.end()};
  }

 private:
  std::span<uint32_t> clock(Node n) {
    return {clocks_.data() + size_t{n} * chains_.nodes.rows(), chains_.nodes.rows()};
  }

  // Calls use(m) for each immediate certain predecessor m of `n`.
  template <class Use>
  void each_before(Node n, Use use) const {
    if (const uint32_t place = chains_.place[n]; place > 0)
      use(chains_.nodes[chains_.of[n]][place - 1]);
    if (chains_.also_after[n] != kNone) use(chains_.also_after[n]);
    for (const ExternalRead& read : problem_.reads[n])
      if (read.write != kNone) use(problem_.writes.node[read.write]);
    for (const Node before : before_[n]) use(before);
  }

  // Sets, for each node, how many nodes at the beginning of each chain precede it. False if nodes
  // precede each other in a circle.
  bool set_clocks() {
    const size_t nodes = problem_.nodes();
    clocks_.assign(nodes * chains_.nodes.rows(), 0);
    index_pairs();
    std::vector<std::vector<Node>> after(nodes);
    std::vector<uint32_t> missing(nodes, 0);
    for (Node n = 0; n < nodes; ++n)
      each_before(n, [&](Node before) {
        after[before].push_back(n);
        ++missing[n];
      });
    std::vector<Node> ready;
    for (Node n = 0; n < nodes; ++n)
      if (missing[n] == 0) ready.push_back(n);
    size_t done = 0;
    for (; !ready.empty(); ++done) {
      const Node n = ready.back();
      ready.pop_back();
      const std::span<uint32_t> own = clock(n);
      each_before(n, [&](Node before) {
        const std::span<const uint32_t> other = clock(before);
        for (size_t chain = 0; chain < own.size(); ++chain)
          own[chain] = std::max(own[chain], other[chain]);
        uint32_t& count = own[chains_.of[before]];
        count = std::max(count, chains_.place[before] + 1);
      });
      for (const Node later : after[n])
        if (--missing[later] == 0) ready.push_back(later);
    }
    return done == nodes;
  }

  void index_pairs() {
    before_.assign(problem_.nodes(), {});
    if (!ordered_) return;
    for (const auto& [before, after] : pairs_) before_[after].push_back(before);
  }

  // Notes that a writer of the key that precedes the reader wrote it before the version that was
  // read.
  void look(Node reader, const ExternalRead& read) {
    if (read.write == kNone) return;
    const Node source = problem_.writes.node[read.write];
    const std::span<const uint32_t> behind = clock(reader), behind_source = clock(source);
    const std::span<const ChainWriter> writers = writers_[read.key];
    for (size_t i = 0; i < writers.size();) {
      const uint32_t chain = writers[i].chain;
      Node last = kNone;
      uint32_t place = 0;
      for (; i < writers.size() && writers[i].chain == chain; ++i) {
        const ChainWriter& w = writers[i];
        if (w.place >= behind[chain] || w.node == source || w.node == reader) continue;
        last = w.node;
        place = w.place;
      }
      if (last == kNone || place < behind_source[chain]) continue;
      const auto pair = std::pair(last, source);
      std::vector<Node>& known = before_[source];
      if (std::find(known.begin(), known.end(), last) != known.end()) continue;
      known.push_back(last);
      pairs_.push_back(pair);
    }
  }

  const Problem& problem_;
  const Chains& chains_;
  std::vector<std::pair<Node, Node>> pairs_;  // the first known_ are known
  size_t known_;
  bool ordered_;
  Rows<ChainWriter> writers_;              // per key, by chain and place
  std::vector<uint32_t> clocks_;           // per node and chain
  std::vector<std::vector<Node>> before_;  // per node: its predecessors by pairs_
};

}  // namespace

std::vector<std::pair<Node, Node>> forced_orders(const Problem& problem, const Chains& chains,
                                                 std::vector<std::pair<Node, Node>> known,
                                                 bool ordered) {
  if (chains.nodes.rows() > kMostChains) return {};
  return Forced(problem, chains, std::move(known), ordered).run();
}

}  // namespace assay::internal
