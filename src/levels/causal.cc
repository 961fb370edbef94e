// Causal consistency: a transaction sees all that it has seen directly or through what others had
// seen. If t2 reaches the reader by session order and reads-from, and the reader reads x from t1,
// and t2 writes x, then t2 commits before t1.
//
//   s1: { w(x,1) }
//   s2: { r(x,1) w(y,1) }
//   s3: { r(y,1) r(x,null) }      x=1 reached s3 through s2, yet s3 reads x from the initial state:
//                                 violated
//
// Reachability by clocks: transactions are covered by chains, each member of which reaches the
// next. The clock of a transaction holds, per chain, how many of its members reach it. The sessions
// are chains; a transaction of unknown outcome, which its session does not continue, goes on top of
// a chain whose last member reaches it, or starts one.
//
// If chains are short, as when every transaction has a separate session, a clock with 32 bits per
// chain is larger than a set with one bit per transaction. Then there are no clocks: the questions
// whether one transaction saw another are collected and answered together, some hundred
// transactions at a time (graph/reachability.cc).
//
// Given a commit order, a read is at fault if a writer of the key that the reader saw is between
// the one it read from and the reader. In an order near the real one there are few such writers,
// and each costs one look-up in the clock; if there are many, the last seen writer of each chain is
// looked up. The first order proposed is that of how much a transaction saw. Once faults have
// become edges, the next order differs from it by transactions that come later than they did, and
// only the transactions that they overtake are examined again: a writer that is now after another
// one, and was seen by a reader of that one.
//
// Cost: reads-from edges × chains for the clocks, then reads × writers in between, at most reads ×
// chains × log; a later round at most twice that. Memory: transactions × chains words. Without
// clocks: edges × (the transactions between a question's ends / 64), each round. Sources: dbcop
// (OOPSLA 2019), AWDIT (PLDI 2025).

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "base/room.h"
#include "base/sort_by.h"
#include "graph/reachability.h"
#include "infer/chain_writers.h"
#include "levels/seen_faults.h"

namespace assay::internal {
namespace {

constexpr uint32_t kFirstSpare = 16;
constexpr size_t kQuestions = size_t{1} << 20;  // how many are answered together

// Chains over a partial order, and how many members of each reach a node (itself included).
class CausalClocks {
 public:
  CausalClocks(const Problem& problem, const Digraph& base) : problem_(problem), base_(base) {}

  uint32_t chains() const { return static_cast<uint32_t>(members_.size()); }
  uint32_t chain(Node n) const { return chain_[n]; }
  uint32_t place(Node n) const { return place_[n]; }  // from 1
  const uint32_t* clock(Node n) const { return clocks_.data() + uint64_t{n} * stride_; }

  // Fills the clocks along a topological order. False if they would be larger than sets of
  // transactions, or if the budget runs out.
  bool fill(const std::vector<Vertex>& order, Budget& budget) {
    cover_sessions();
    const std::vector<uint32_t> chain = chain_, place = place_, members = members_;
    const auto open = static_cast<uint32_t>(std::count(chain.begin(), chain.end(), kNone));
    for (uint32_t spare = std::min(open, kFirstSpare);; spare = std::min(open, 2 * spare)) {
      stride_ = members.size() + spare;
      if (32 * stride_ > std::max<size_t>(problem_.nodes(), 64)) return false;
      if (fill_rows(order, budget)) return true;
      if (budget.exhausted()) return false;
      chain_ = chain, place_ = place, members_ = members;
    }
  }

 private:
  uint32_t* row(Node n) { return clocks_.data() + uint64_t{n} * stride_; }

  void cover_sessions() {
    chain_.assign(problem_.nodes(), kNone);
    place_.assign(problem_.nodes(), 0);
    for (const std::vector<Node>& session : problem_.sessions) {
      uint32_t chain = kNone;
      for (Node n : session) {
        if (problem_.history->status(problem_.txn[n]) != TxnStatus::committed) continue;
        if (chain == kNone) chain = open_chain();
        put_on(n, chain);
      }
      // Nothing follows the last transaction of a session, so an unknown one may close the chain.
      if (!session.empty() && chain_[session.back()] == kNone && chain != kNone) {
        put_on(session.back(), chain);
      }
    }
  }

  // Returns false if there are more chains than the rows have room for, or the budget ran out.
  bool fill_rows(const std::vector<Vertex>& order, Budget& budget) {
    const uint64_t words = stride_ * problem_.nodes();
    if (!budget.has_room(words * sizeof(uint32_t))) return false;
    clocks_.assign(words, 0);
    for (Vertex v : order) {
      uint32_t* own = row(v);
      base_.each_in(v, [&](Vertex u) {
        if (own[chain_[u]] >= place_[u]) return true;  // already seen, with all that it saw
        const uint32_t* other = row(u);
        for (size_t c = 0; c < stride_; ++c) own[c] = std::max(own[c], other[c]);
        return true;
      });
      if (chain_[v] == kNone && !put_on_some_chain(v, own)) return false;
      own[chain_[v]] = place_[v];
      if (budget.exhausted()) return false;
    }
    return true;
  }

  bool put_on_some_chain(Node n, const uint32_t* clock) {
    for (uint32_t c = 0; c < chains(); ++c) {
      if (clock[c] != members_[c]) continue;
      put_on(n, c);
      return true;
    }
    if (chains() == stride_) return false;
    put_on(n, open_chain());
    return true;
  }

  uint32_t open_chain() {
    members_.push_back(0);
    return chains() - 1;
  }
  void put_on(Node n, uint32_t chain) {
    chain_[n] = chain;
    place_[n] = ++members_[chain];
  }

  const Problem& problem_;
  const Digraph& base_;
  std::vector<uint32_t> chain_, place_, members_;
  size_t stride_ = 0;  // the number of chains for which each row has room
  std::vector<uint32_t> clocks_;
};

class SeenByAnyPath : public SeenFaults {
 public:
  SeenByAnyPath(const Problem& problem, const Digraph& base)
      : problem_(problem),
        base_(base),
        clocks_(problem, base),
        place_(problem.nodes()),
        row_(problem.writes.size()),
        writers_(problem.writes.size()) {}

  static uint64_t bytes(const Problem& problem) {
    // Arrays, and the memory that sorting by the past takes.
    constexpr uint64_t kBytesANode = 44, kBytesAWrite = 20;
    return kBytesANode * problem.nodes() + kBytesAWrite * problem.writes.size();
  }

  bool prepare(const std::vector<Vertex>& order, Budget& budget) override {
    if (clocks_.fill(order, budget)) return true;
    if (budget.exhausted() ||
        !budget.has_room(Reachability::bytes(order.size()) + sizeof(Vertex) * order.size()))
      return false;
    base_order_ = order;
    reachability_.emplace(base_, base_order_);
    return true;
  }

  // An order in which transactions saw more and more of the others.
  std::vector<Vertex> better_order(const std::vector<Vertex>& order) const override {
    if (reachability_) return {};
    std::vector<uint64_t> past(order.size());
    for (const Vertex n : order)
      past[n] = std::accumulate(clocks_.clock(n), clocks_.clock(n) + clocks_.chains(), uint64_t{0});
    std::vector<Vertex> by_past = order;
    stable_sort_by(by_past, [&](Vertex n) { return past[n]; });
    return by_past;
  }

  bool find(const std::vector<Vertex>& order, std::vector<VisibilityEdge>& edges,
            Budget& budget) override {
    const std::vector<Node> delayed = take_order(order);
    const bool few = !delayed.empty() && delayed.size() < order.size() / 8;
    if (few && find_again(delayed, edges)) return answer_questions(edges, budget);
    questions_.clear();
    return find_all(order, edges, budget);
  }

 private:
  // A writer of a key, with all that is needed to ask whether it was seen, so nothing else is
  // looked up.
  struct Writer {
    WriteId write;
    uint32_t at;  // place in the last commit order that was examined as a whole
    uint32_t chain;
    uint32_t place;  // place on its chain
  };
  // Used without clocks: whether `reader` saw `later`, another writer of a key that it read.
  struct Question {
    Node later, reader;
    ExternalRead read;
  };

  bool find_all(const std::vector<Vertex>& order, std::vector<VisibilityEdge>& edges,
                Budget& budget) {
    arrange(order);
    at_fault_.clear();
    for (const Vertex n : order) {
      for (const ExternalRead& read : problem_.reads[n]) {
        if (reachability_) {
          if (!ask_between(n, read, edges, budget)) return false;
          continue;
        }
        const Node seen = last_seen_between(n, read, place_[n]);
        if (seen == kNone) continue;
        if (!room_to_grow(edges, 1, budget) || !room_to_grow(at_fault_, 1, budget)) return false;
        add_fault(seen, n, read, edges);
        at_fault_.push_back({n, read});
      }
      if (budget.exhausted()) return false;
    }
    return answer_questions(edges, budget);
  }

  // Asks whether the reader saw any of the key's writers between the one that it read from and
  // itself.
  bool ask_between(Node reader, const ExternalRead& read, std::vector<VisibilityEdge>& edges,
                   Budget& budget) {
    const uint32_t end = problem_.writes.of_key.begin[read.key + 1];
    for (uint32_t i = first_behind(read); i < end && writers_[i].at < place_[reader]; ++i) {
      if (!room_to_grow(questions_, 1, budget)) return false;
      questions_.push_back({problem_.writes.node[writers_[i].write], reader, read});
      if (questions_.size() == kQuestions && !answer_questions(edges, budget)) return false;
    }
    return true;
  }

  // Answers the questions. Each writer that was seen is a fault.
  bool answer_questions(std::vector<VisibilityEdge>& edges, Budget& budget) {
    if (questions_.empty()) return true;
    if (!budget.has_room(2 * sizeof(Arc) * questions_.size())) return false;
    std::vector<Arc> pairs;
    pairs.reserve(questions_.size());
    for (const Question& q : questions_) pairs.push_back({q.later, q.reader});
    std::vector<bool> seen;
    if (!reachability_->answer(pairs, seen, budget)) return false;
    for (size_t i = 0; i < questions_.size(); ++i) {
      const Question& q = questions_[i];
      if (!seen[i] || q.later == q.reader) continue;
      if (!room_to_grow(edges, 1, budget)) return false;
      add_fault(q.later, q.reader, q.read, edges);
    }
    questions_.clear();
    return true;
  }

  // The index in writers_ of the first writer after the one that was read.
  uint32_t first_behind(const ExternalRead& read) const {
    return read.write == kNone ? problem_.writes.of_key.begin[read.key] : row_[read.write] + 1;
  }

  // Notes the places of a commit order. Returns the transactions that come later than in the
  // previous order, relative to the others; the one that came last in the previous order comes
  // first.
  std::vector<Node> take_order(const std::vector<Vertex>& order) {
    std::vector<Node> delayed;
    std::vector<bool> is_delayed(order.size());
    for (size_t before = 0, now = 0; before < previous_.size(); ++before) {
      while (now < order.size() && is_delayed[order[now]]) ++now;
      if (previous_[before] == order[now]) {
        ++now;
        continue;
      }
      is_delayed[previous_[before]] = true;
      delayed.push_back(previous_[before]);
    }
    std::reverse(delayed.begin(), delayed.end());
    for (uint32_t i = 0; i < order.size(); ++i) place_[order[i]] = i;
    previous_ = order;
    return delayed;
  }

  // Finds faults again. Reads that were at fault may have seen more than one writer too many;
  // others can be at fault only because of a delayed transaction. False if examining everything is
  // cheaper.
  bool find_again(const std::vector<Node>& delayed, std::vector<VisibilityEdge>& edges) {
    size_t looks = 0;
    for (const Node n : delayed) {
      for (const WriteId w : problem_.writes.of(n)) looks += move_back(w, edges);
      if (looks > problem_.reads.items.size()) return false;
    }
    std::erase_if(at_fault_, [&](const auto& fault) {
      const auto& [reader, read] = fault;
      const Node seen = last_seen_between(reader, read, kNone);
      if (seen != kNone) add_fault(seen, reader, read, edges);
      return seen == kNone;
    });
    return true;
  }

  // Moves a writer of a key after the writers that it now follows. Returns how many were examined.
  size_t move_back(WriteId write, std::vector<VisibilityEdge>& edges) {
    const Node n = problem_.writes.node[write];
    const uint32_t end = problem_.writes.of_key.begin[problem_.writes.key[write] + 1];
    const Writer moved = writers_[row_[write]];
    uint32_t row = row_[write];
    size_t looks = 1;
    for (; row + 1 < end; ++row) {
      const Writer& next = writers_[row + 1];
      if (place_[problem_.writes.node[next.write]] > place_[n]) break;
      look_at_readers(next.write, moved, edges);
      looks += 1 + problem_.readers[next.write].size();
      writers_[row] = next;
      row_[next.write] = row;
    }
    writers_[row] = moved;
    row_[write] = row;
    return looks;
  }

  // Finds faults among the transactions that read from `source`: they must not have seen `later`.
  void look_at_readers(WriteId source, const Writer& later, std::vector<VisibilityEdge>& edges) {
    for (const Node reader : problem_.readers[source]) {
      if (!reachability_ && clocks_.clock(reader)[later.chain] < later.place) continue;
      const std::span<const ExternalRead> reads = problem_.reads[reader];
      const auto read = std::find_if(reads.begin(), reads.end(),
                                     [&](const ExternalRead& r) { return r.write == source; });
      if (read == reads.end()) continue;
      const Node writer = problem_.writes.node[later.write];
      if (reachability_) {
        questions_.push_back({writer, reader, *read});
      } else if (reader != writer) {
        return add_fault(writer, reader, *read, edges);
      }
    }
  }

  // Sorts the writers of each key by the commit order.
  void arrange(const std::vector<Vertex>& order) {
    std::vector<uint32_t> next(problem_.writes.of_key.begin.begin(),
                               problem_.writes.of_key.begin.end() - 1);
    for (uint32_t i = 0; i < order.size(); ++i) {
      const Node n = order[i];
      for (const WriteId w : problem_.writes.of(n)) {
        row_[w] = next[problem_.writes.key[w]]++;
        writers_[row_[w]] = {w, i, kNone, kNone};
        if (!reachability_) writers_[row_[w]] = {w, i, clocks_.chain(n), clocks_.place(n)};
      }
    }
  }

  // The last writer of the key that the reader saw among those after the one it read from; kNone if
  // there is none. All writers that the reader saw come before place `before`, which only shortens
  // the walk.
  Node last_seen_between(Node reader, const ExternalRead& read, uint32_t before) {
    const uint32_t first = first_behind(read);
    const uint32_t end = problem_.writes.of_key.begin[read.key + 1];
    const uint32_t* clock = clocks_.clock(reader);
    WriteId last = kNone;
    const uint32_t most = first + 4 * clocks_.chains();
    uint32_t i = first;
    for (; i < end && i < most && writers_[i].at < before; ++i) {
      const Writer& w = writers_[i];
      if (clock[w.chain] >= w.place && problem_.writes.node[w.write] != reader) last = w.write;
    }
    if (i == most && i < end) return last_by_chain(reader, read);
    return last == kNone ? kNone : problem_.writes.node[last];
  }

  // The same by asking each chain.
  Node last_by_chain(Node reader, const ExternalRead& read) {
    if (by_chain_.rows() == 0)
      by_chain_ = writers_by_chain(
          problem_, [&](Node n) { return std::pair(clocks_.chain(n), clocks_.place(n)); });
    const std::span<const ChainWriter> writers = by_chain_[read.key];
    const uint32_t* clock = clocks_.clock(reader);
    Node last = kNone;
    const Node source = read.write == kNone ? kNone : problem_.writes.node[read.write];
    const auto is_later = [&](Node n) { return last == kNone || place_[n] > place_[last]; };
    for (auto it = writers.begin(); it != writers.end();) {
      const uint32_t chain = it->chain;
      uint32_t bound = clock[chain];
      if (chain == clocks_.chain(reader)) --bound;  // excludes the reader itself
      const auto beyond = std::upper_bound(it, writers.end(), ChainWriter{chain, bound, kNone});
      const bool behind =
          beyond != it && (source == kNone || place_[(beyond - 1)->node] > place_[source]);
      if (behind && is_later((beyond - 1)->node)) last = (beyond - 1)->node;
      it = std::upper_bound(beyond, writers.end(), ChainWriter{chain, kNone, kNone});
    }
    return last;
  }

  void add_fault(Node seen, Node reader, const ExternalRead& read,
                 std::vector<VisibilityEdge>& edges) const {
    const Node source = read.write == kNone ? kNone : problem_.writes.node[read.write];
    edges.push_back({seen, source, read.key, reader, read.op, kNone});
  }

  const Problem& problem_;
  const Digraph& base_;
  CausalClocks clocks_;
  std::vector<Vertex> base_order_;
  std::optional<Reachability> reachability_;             // used instead of clocks
  std::vector<Question> questions_;                      // to be answered with reachability_
  std::vector<Vertex> previous_;                         // the commit order examined last
  std::vector<uint32_t> place_;                          // indexed by node: its place in that order
  std::vector<uint32_t> row_;                            // indexed by write: its index in writers_
  std::vector<Writer> writers_;                          // grouped by key, in that order
  std::vector<std::pair<Node, ExternalRead>> at_fault_;  // the faults of that order
  Rows<ChainWriter> by_chain_;                           // filled once it is needed
};

}  // namespace

std::unique_ptr<SeenFaults> seen_by_any_path(const Problem& problem, const Digraph& base,
                                             Budget& budget) {
  if (!budget.has_room(SeenByAnyPath::bytes(problem))) return nullptr;
  return std::make_unique<SeenByAnyPath>(problem, base);
}

}  // namespace assay::internal
