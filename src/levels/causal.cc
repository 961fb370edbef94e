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
// reach it.
//
// Given a commit order, a read is at fault if a writer of the key that the reader saw stands between
// the one it read from and the reader. In an order near the real one few writers stand there, and
// each costs one look at the clock; where many do, each chain is asked for its last one that was
// seen.
//
// Cost: reads-from edges × chains for the clocks, then reads × writers in between, at most reads ×
// chains × log. Memory: transactions × chains words. Sources: dbcop (OOPSLA 2019), AWDIT (PLDI 2025).

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

}  // namespace

class CausalFaults::Impl {
 public:
  Impl(const WeakInput& in, const std::vector<Vertex>& order)
      : rf_(in.rf),
        clocks_(in, order),
        first_order_(order),
        place_(in.rf.nodes()),
        row_(in.rf.writes()) {
    key_begin_.reserve(rf_.writers.rows() + 1);
    for (KeyId key = 0; key <= rf_.writers.rows(); ++key)
      key_begin_.push_back(rf_.writers.begin[key]);
    writers_.resize(rf_.writes());
  }

  bool fill_clocks(Budget& budget) {
    return clocks_.affordable() && clocks_.fill(first_order_, budget);
  }

  bool find(const std::vector<Vertex>& order, std::vector<VisibilityEdge>& edges, Budget& budget) {
    arrange(order);
    for (const Vertex n : order) {
      for (const ExternalRead& read : rf_.reads[n]) {
        const Node seen = last_seen_between(n, read);
        if (seen == kNone) continue;
        const Node source = read.write == kNone ? kNone : rf_.write_node[read.write];
        edges.push_back({seen, source, read.key, n, read.op, kNone});
      }
      if (budget.exhausted()) return false;
    }
    return true;
  }

 private:
  // The writers of each key in the commit order.
  void arrange(const std::vector<Vertex>& order) {
    std::vector<uint32_t> next(key_begin_.begin(), key_begin_.end() - 1);
    for (uint32_t i = 0; i < order.size(); ++i) {
      const Node n = order[i];
      place_[n] = i;
      for (WriteId w = rf_.write_begin[n]; w < rf_.write_begin[n + 1]; ++w) {
        row_[w] = next[rf_.write_key[w]]++;
        writers_[row_[w]] = {n, i, clocks_.chain(n), clocks_.place(n)};
      }
    }
  }

  // A writer of a key, with all that asking whether it was seen takes: no look elsewhere.
  struct Writer {
    Node node;
    uint32_t at;  // in the commit order
    uint32_t chain;
    uint32_t place;  // on its chain
  };

  // The last writer of the key behind the one that was read which the reader saw; kNone if none.
  Node last_seen_between(Node reader, const ExternalRead& read) {
    const uint32_t first = read.write == kNone ? key_begin_[read.key] : row_[read.write] + 1;
    const uint32_t end = key_begin_[read.key + 1];
    const uint32_t* clock = clocks_.clock(reader);
    const uint32_t before = place_[reader];
    Node last = kNone;
    const uint32_t most = first + 4 * clocks_.chains();
    uint32_t i = first;
    for (; i < end && i < most && writers_[i].at < before; ++i) {
      const Writer& w = writers_[i];
      if (clock[w.chain] >= w.place) last = w.node;
    }
    if (i < most || i == end) return last;
    return last_by_chain(reader, read);
  }

  // The same, asking each chain.
  Node last_by_chain(Node reader, const ExternalRead& read) {
    if (by_chain_.rows() == 0) by_chain_ = writers_by_chain(rf_, clocks_);
    const std::span<const ChainWriter> writers = by_chain_[read.key];
    const uint32_t* clock = clocks_.clock(reader);
    Node last = kNone;
    const Node source = read.write == kNone ? kNone : rf_.write_node[read.write];
    const auto is_later = [&](Node n) { return last == kNone || place_[n] > place_[last]; };
    for (auto it = writers.begin(); it != writers.end();) {
      const uint32_t chain = it->chain;
      uint32_t bound = clock[chain];
      if (chain == clocks_.chain(reader)) --bound;  // not the reader itself
      const auto beyond = std::upper_bound(it, writers.end(), ChainWriter{chain, bound, kNone});
      const bool behind =
          beyond != it && (source == kNone || place_[(beyond - 1)->node] > place_[source]);
      if (behind && is_later((beyond - 1)->node)) last = (beyond - 1)->node;
      it = std::upper_bound(beyond, writers.end(), ChainWriter{chain, kNone, kNone});
    }
    return last;
  }

  const ReadsFrom& rf_;
  CausalClocks clocks_;
  const std::vector<Vertex>& first_order_;
  std::vector<uint32_t> place_;      // per node, in the commit order
  std::vector<uint32_t> key_begin_;  // per key, into writers_
  std::vector<Writer> writers_;      // of each key, in the commit order
  std::vector<uint32_t> row_;        // per write: where in writers_
  Rows<ChainWriter> by_chain_;       // once it is needed
};

CausalFaults::CausalFaults(const WeakInput& in, const std::vector<Vertex>& order)
    : impl_(std::make_unique<Impl>(in, order)) {}
CausalFaults::~CausalFaults() = default;
bool CausalFaults::fill_clocks(Budget& budget) { return impl_->fill_clocks(budget); }
bool CausalFaults::find(const std::vector<Vertex>& order, std::vector<VisibilityEdge>& edges,
                        Budget& budget) {
  return impl_->find(order, edges, budget);
}

}  // namespace assay
