// The session guarantees: what a session saw or did, some transactions must see.
//
//   read-your-writes      t3 sees t2 if t2 is earlier in its session
//   monotonic-reads       … if an earlier transaction of its session read from t2
//   monotonic-writes      … if it reads from t', and t2 is earlier in the session of t'
//   writes-follow-reads   … if it reads from t', and t' or an earlier transaction of its session read from t2
//
//   s1: { w(x,1) }   s2: { r(x,1) } { r(x,null) }     monotonic-reads: the second transaction of s2 sees s1,
//                                                     and yet reads the x before it
//
// As at the other weak levels, if t3 saw t2, and reads x from t1, and t2 writes x too, t2 commits before t1. A commit
// order is proposed and its faults become edges (weak.cc). Of all writers of x that a reader saw only the one that stands
// last in the order matters: if it is before t1, or t1 itself, so are the others. So one walk through each session keeps,
// for each key, the last writer in the order among those that were seen so far, and asks it about the transaction itself
// (the first two guarantees) or about those who read from it (the other two).
//
// Cost: for each round the writes of all that sessions read from; for the last two, the reads of all readers of every
// transaction. Definitions: Terry et al. 1994, for transactions in the manner of Biswas and Enea.

#include <algorithm>
#include <optional>

#include "base/room.h"
#include "infer/reads_from.h"
#include "levels/weak.h"

namespace assay::internal {
namespace {

using enum LevelId;

// Per key the last writer in the order that was seen; forgotten at the next session.
class LastSeen {
 public:
  LastSeen(size_t keys, const std::vector<uint32_t>& place)
      : writer_(keys, kNone), session_(keys, kNone), place_(place) {}
  void start(uint32_t session) { current_ = session; }
  void see(KeyId key, Node writer) {
    if (session_[key] == current_ && place_[writer_[key]] >= place_[writer]) return;
    session_[key] = current_;
    writer_[key] = writer;
  }
  void see(const Problem& problem, Node writer) {
    for (const WriteId w : problem.writes.of(writer)) see(problem.writes.key[w], writer);
  }
  Node of(KeyId key) const { return session_[key] == current_ ? writer_[key] : kNone; }

 private:
  std::vector<Node> writer_;
  std::vector<uint32_t> session_;
  const std::vector<uint32_t>& place_;
  uint32_t current_ = kNone;
};

}  // namespace

bool is_session_guarantee(LevelId level) {
  return level_info(level).group == LevelGroup::session_guarantees;
}

class SessionFaults::Impl {
 public:
  Impl(const Problem& problem, LevelId level)
      : problem_(problem), history_(*problem.history), level_(level), place_(problem.nodes()) {
    reads_.begin.reserve(problem_.nodes() + 1);
    reads_.items.reserve(problem_.reads.items.size());
    std::vector<ExternalRead> reads;
    for (Node n = 0; n < problem_.nodes(); ++n) {
      external_reads(problem_, n, reads);
      reads_.items.insert(reads_.items.end(), reads.begin(), reads.end());
      reads_.begin.push_back(static_cast<uint32_t>(reads_.items.size()));
    }
    if (asks_readers()) index_readers();
  }

  bool find(const std::vector<Vertex>& order, std::vector<VisibilityEdge>& edges, Budget& budget) {
    for (uint32_t i = 0; i < order.size(); ++i) place_[order[i]] = i;
    LastSeen seen(problem_.keys(), place_);
    for (uint32_t s = 0; s < problem_.sessions.size(); ++s) {
      seen.start(s);
      for (const Node n : problem_.sessions[s]) {
        if (!room_to_grow(edges, reads_[n].size(), budget)) return false;
        visit(n, seen, edges);
      }
    }
    return true;
  }

 private:
  bool asks_readers() const { return level_ == monotonic_writes || level_ == writes_follow_reads; }
  bool committed(Node n) const { return history_.status(problem_.txn[n]) == TxnStatus::committed; }
  Node source(const ExternalRead& read) const {
    return read.write == kNone ? kNone : problem_.writes.node[read.write];
  }

  void index_readers() {
    std::vector<std::pair<Node, Node>> pairs;  // from whom, who
    pairs.reserve(reads_.items.size());
    for (Node n = 0; n < problem_.nodes(); ++n)
      for (const ExternalRead& read : reads_[n])
        if (read.write != kNone) pairs.emplace_back(source(read), n);
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    readers_.begin.assign(problem_.nodes() + 1, 0);
    readers_.items.reserve(pairs.size());
    for (const auto& [from, reader] : pairs) {
      ++readers_.begin[from + 1];
      readers_.items.push_back(reader);
    }
    for (Node n = 0; n < problem_.nodes(); ++n) readers_.begin[n + 1] += readers_.begin[n];
  }

  // The session did `n`: faults of those who must see what it had seen before, then what it sees from now on.
  // A transaction of unknown outcome is followed by nobody.
  void visit(Node n, LastSeen& seen, std::vector<VisibilityEdge>& edges) {
    if (!asks_readers()) check(n, seen, edges);
    if (level_ == monotonic_writes) ask_readers(n, seen, edges);
    if (level_ == writes_follow_reads && !committed(n))
      return ask_readers_of_unknown(n, seen, edges);
    if (committed(n)) {
      if (level_ == read_your_writes || level_ == monotonic_writes) {
        seen.see(problem_, n);
      } else {
        for (const ExternalRead& read : reads_[n])
          if (read.write != kNone) seen.see(problem_, source(read));
      }
    }
    if (level_ == writes_follow_reads) ask_readers(n, seen, edges);
  }

  void ask_readers(Node n, const LastSeen& seen, std::vector<VisibilityEdge>& edges) const {
    for (const Node reader : readers_[n]) check(reader, seen, edges);
  }

  // Its own reads count for those who read from it, not for what its session did next.
  void ask_readers_of_unknown(Node n, const LastSeen& seen,
                              std::vector<VisibilityEdge>& edges) const {
    ask_readers(n, seen, edges);
    for (const ExternalRead& own : reads_[n]) {
      if (own.write == kNone) continue;
      for (const Node reader : readers_[n])
        for (const ExternalRead& read : reads_[reader])
          if (problem_.write_of(source(own), read.key) != kNone)
            check(reader, read, source(own), edges);
    }
  }

  void check(Node reader, const LastSeen& seen, std::vector<VisibilityEdge>& edges) const {
    for (const ExternalRead& read : reads_[reader]) {
      const Node last = seen.of(read.key);
      if (last != kNone) check(reader, read, last, edges);
    }
  }

  // `reader` saw `last`, which writes what `read` reads.
  void check(Node reader, const ExternalRead& read, Node last,
             std::vector<VisibilityEdge>& edges) const {
    const Node from = source(read);
    if (last == from || last == reader) return;
    if (from != kNone && place_[last] < place_[from]) return;
    edges.push_back({last, from, read.key, reader, read.op, kNone});
  }

  const Problem& problem_;
  const History& history_;
  const LevelId level_;
  std::vector<uint32_t> place_;
  Rows<ExternalRead> reads_;  // per node, repetitions included
  Rows<Node> readers_;        // per node: who reads from it
};

uint64_t SessionFaults::bytes(const Problem& problem) {
  const uint64_t reads = problem.reads.items.size();
  const uint64_t readers = sizeof(std::pair<Node, Node>) + sizeof(Node);
  return 3 * sizeof(uint32_t) * problem.nodes() + (sizeof(ExternalRead) + readers) * reads;
}
SessionFaults::SessionFaults(const Problem& problem, LevelId level)
    : impl_(std::make_unique<Impl>(problem, level)) {}
SessionFaults::~SessionFaults() = default;

bool SessionFaults::find(const std::vector<Vertex>& order, std::vector<VisibilityEdge>& edges,
                         Budget& budget) {
  return impl_->find(order, edges, budget);
}

namespace {

// Looks for the transactions between `seen` and `reader`.
class Witness {
 public:
  Witness(const Problem& problem, Node seen, Node reader)
      : history_(*problem.history), problem_(problem), seen_(seen), reader_(reader) {}

  std::vector<Edge> path(LevelId level) const {
    if (level == read_your_writes) return {session(seen_, reader_)};
    if (level == monotonic_reads) {
      const Node between = reads_seen_before(reader_);
      return {*read(seen_, between), session(between, reader_)};
    }
    for (const ExternalRead& own : reads_of(reader_)) {
      if (own.write == kNone) continue;
      const Node source = problem_.writes.node[own.write];
      if (level == monotonic_writes) {
        if (precedes(seen_, source)) return {session(seen_, source), *read(source, reader_)};
        continue;
      }
      if (const std::optional<Edge> direct = read(seen_, source))
        return {*direct, *read(source, reader_)};
      const Node earlier = reads_seen_before(source);
      if (earlier == kNone) continue;
      return {*read(seen_, earlier), session(earlier, source), *read(source, reader_)};
    }
    return {};
  }

 private:
  std::vector<ExternalRead> reads_of(Node n) const {
    std::vector<ExternalRead> reads;
    external_reads(problem_, n, reads);
    return reads;
  }
  bool precedes(Node a, Node b) const {
    const TxnId s = problem_.txn[a], t = problem_.txn[b];
    return history_.status(s) == TxnStatus::committed &&
           history_.session(s) == history_.session(t) &&
           history_.position(s) < history_.position(t);
  }
  // Somebody earlier in the session of `n` who reads from `seen_`.
  Node reads_seen_before(Node n) const {
    for (const Node earlier : problem_.sessions[history_.session(problem_.txn[n])])
      if (precedes(earlier, n) && read(seen_, earlier)) return earlier;
    return kNone;
  }
  Edge session(Node from, Node to) const {
    Edge edge;
    edge.kind = EdgeKind::session;
    edge.from = problem_.txn[from];
    edge.to = problem_.txn[to];
    return edge;
  }
  std::optional<Edge> read(Node from, Node to) const {
    for (const ExternalRead& r : reads_of(to)) {
      if (r.write == kNone || problem_.writes.node[r.write] != from) continue;
      Edge edge;
      edge.kind = EdgeKind::read_dependency;
      edge.from = problem_.txn[from];
      edge.to = problem_.txn[to];
      edge.key = r.key;
      edge.op = r.op;
      return edge;
    }
    return std::nullopt;
  }

  const History& history_;
  const Problem& problem_;
  const Node seen_, reader_;
};

}  // namespace

std::vector<Edge> session_guarantee_path(const Problem& problem, LevelId level, Node seen,
                                         Node reader) {
  return Witness(problem, seen, reader).path(level);
}

}  // namespace assay::internal
