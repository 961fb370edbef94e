// Causal consistency: what a transaction saw, directly or through what others had seen, it sees. If
// t2 reaches the reader by session order and reads-from, and the reader reads x from t1, and t2
// writes x, then t2 commits before t1.
//
//   s1: { w(x,1) }
//   s2: { r(x,1) w(y,1) }
//   s3: { r(y,1) r(x,null) }      x=1 reached s3 through s2, yet s3 reads x from the initial state:
//   violated
//
// Reachability by clocks: transactions are covered by chains (the sessions; a transaction of
// unknown outcome, which its session does not continue, goes on top of a chain whose last member
// reaches it, or starts one). The clock of a transaction holds, per chain, how many of its members
// reach it. For each read and each chain that writes the key, only the last writer within the clock
// matters.
//
// Cost: (reads-from edges + reads) × chains. Memory: transactions × chains words. Sources: dbcop
// (OOPSLA 2019), AWDIT (PLDI 2025).

#include <algorithm>

#include "levels/weak.h"

namespace assay {
namespace {

constexpr uint64_t kMaxClockWords = uint64_t{1} << 30;  // 4 GiB

// Chains over a partial order, and how many members of each reach a node (itself included).
class CausalClocks {
 public:
  CausalClocks(const WeakInput& in, const std::vector<Vertex>& order)
      : in_(in), chain_(in.rf.nodes(), kNone), place_(in.rf.nodes(), 0) {
    cover(order);
  }

  uint32_t chains() const { return static_cast<uint32_t>(members_.size()); }
  uint32_t chain(Node n) const { return chain_[n]; }
  uint32_t place(Node n) const { return place_[n]; }  // from 1
  bool affordable() const { return uint64_t{chains()} * in_.rf.nodes() <= kMaxClockWords; }

  // Fills the clocks. Needs chains() × nodes words.
  bool fill(const std::vector<Vertex>& order, Budget& budget) {
    clocks_.assign(uint64_t{chains()} * in_.rf.nodes(), 0);
    for (Vertex v : order) {
      uint32_t* own = row(v);
      in_.base.each_in(v, [&](Vertex u) {
        const uint32_t* other = row(u);
        for (uint32_t c = 0; c < chains(); ++c) own[c] = std::max(own[c], other[c]);
        return true;
      });
      own[chain_[v]] = place_[v];
      if (budget.exhausted()) return false;
    }
    return true;
  }
  const uint32_t* clock(Node n) const { return clocks_.data() + uint64_t{n} * chains(); }

 private:
  uint32_t* row(Node n) { return clocks_.data() + uint64_t{n} * chains(); }

  // Sessions first. An unknown transaction may sit on the end of a chain whose last member it read
  // from.
  void cover(const std::vector<Vertex>& order) {
    for (const std::vector<Node>& session : in_.rf.sessions) {
      uint32_t chain = kNone;
      for (Node n : session) {
        if (in_.history.status(in_.rf.txn[n]) != TxnStatus::committed) continue;
        if (chain == kNone) chain = open_chain();
        put_on(n, chain);
      }
      // Nobody follows the last transaction of a session: an unknown one may close the chain.
      if (!session.empty() && chain_[session.back()] == kNone && chain != kNone) {
        put_on(session.back(), chain);
      }
    }
    for (Vertex v : order) {
      if (chain_[v] != kNone) continue;
      uint32_t chain = kNone;
      in_.base.each_in(v, [&](Vertex u) {
        if (members_[chain_[u]] == place_[u]) chain = chain_[u];
        return chain == kNone;
      });
      put_on(v, chain == kNone ? open_chain() : chain);
    }
  }
  uint32_t open_chain() {
    members_.push_back(0);
    return chains() - 1;
  }
  void put_on(Node n, uint32_t chain) {
    chain_[n] = chain;
    place_[n] = ++members_[chain];
  }

  const WeakInput& in_;
  std::vector<uint32_t> chain_, place_, members_;
  std::vector<uint32_t> clocks_;
};

// The writers of one key, by chain and place.
struct ChainWriter {
  uint32_t chain;
  uint32_t place;
  Node node;
  friend auto operator<=>(const ChainWriter&, const ChainWriter&) = default;
};

Rows<ChainWriter> writers_by_chain(const ReadsFrom& rf, const CausalClocks& clocks) {
  Rows<ChainWriter> rows;
  rows.items.reserve(rf.writes());
  for (KeyId key = 0; key < rf.writers.rows(); ++key) {
    const size_t begin = rows.items.size();
    for (WriteId w : rf.key_writers(key)) {
      const Node n = rf.write_node[w];
      rows.items.push_back({clocks.chain(n), clocks.place(n), n});
    }
    std::sort(rows.items.begin() + static_cast<std::ptrdiff_t>(begin), rows.items.end());
    rows.begin.push_back(static_cast<uint32_t>(rows.items.size()));
  }
  return rows;
}

void force_read(const ExternalRead& read, Node source, Node reader, const CausalClocks& clocks,
                std::span<const ChainWriter> writers, std::vector<VisibilityEdge>& edges) {
  const uint32_t* clock = clocks.clock(reader);
  for (auto it = writers.begin(); it != writers.end();) {
    const uint32_t chain = it->chain;
    uint32_t bound = clock[chain];
    if (chain == clocks.chain(reader)) --bound;  // not the reader itself
    Node last = kNone;
    if (it->place <= bound) {
      const auto beyond = std::upper_bound(it, writers.end(), ChainWriter{chain, bound, kNone});
      last = (beyond - 1)->node;
    }
    it = std::upper_bound(it, writers.end(), ChainWriter{chain, kNone, kNone});
    if (last != kNone && last != source) {
      edges.push_back({last, source, read.key, reader, read.op, kNone});
    }
  }
}

}  // namespace

bool force_causal(const WeakInput& in, const std::vector<Vertex>& order,
                  std::vector<VisibilityEdge>& edges, Budget& budget) {
  const ReadsFrom& rf = in.rf;
  CausalClocks clocks(in, order);
  if (!clocks.affordable() || !clocks.fill(order, budget)) return false;
  const Rows<ChainWriter> writers = writers_by_chain(rf, clocks);
  for (Node n = 0; n < rf.nodes(); ++n) {
    for (const ExternalRead& read : rf.reads[n]) {
      const Node source = read.write == kNone ? kNone : rf.write_node[read.write];
      force_read(read, source, n, clocks, writers[read.key], edges);
      if (budget.exhausted()) return false;
    }
  }
  return true;
}

}  // namespace assay
