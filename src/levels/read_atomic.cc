// Read atomic: a transaction sees all of another transaction's writes or none. If t2 precedes the
// reader in its session, or the reader read anything from t2, and the reader reads x from t1, and
// t2 writes x, then t2 commits before t1.
//
//   s1: { w(x,1) w(y,1) }           t2
//   s2: { r(y,1) r(x,null) }        read y from t2, yet x from the initial state: violated
//
// Session order: only the last writer of x in the session matters, earlier ones are ordered before
// it by the session. Reads: for each distinct writer read from, the keys it writes that were read
// from somebody else.
//
// Cost: for each transaction and each writer it read from, the smaller of the two key sets. Source:
// AWDIT (PLDI 2025).

#include "base/room.h"
#include "levels/weak.h"

namespace assay::internal {
namespace {

// The last definite writer of each key in one session; forgotten at the next session by the stamp.
class LastWriters {
 public:
  explicit LastWriters(size_t keys) : writer_(keys, kNone), session_(keys, kNone) {}
  Node get(KeyId key, uint32_t session) const {
    return session_[key] == session ? writer_[key] : kNone;
  }
  void set(KeyId key, uint32_t session, Node writer) {
    writer_[key] = writer;
    session_[key] = session;
  }

 private:
  std::vector<Node> writer_;
  std::vector<uint32_t> session_;
};

bool force_by_session(const Problem& problem, std::vector<VisibilityEdge>& edges, Budget& budget) {
  LastWriters last(problem.keys());
  for (uint32_t s = 0; s < problem.sessions.size(); ++s) {
    for (Node n : problem.sessions[s]) {
      if (!room_to_grow(edges, problem.reads[n].size(), budget)) return false;
      for (const ExternalRead& read : problem.reads[n]) {
        const Node before = last.get(read.key, s);
        const Node source = read.write == kNone ? kNone : problem.writes.node[read.write];
        if (before != kNone && before != source) {
          edges.push_back({before, source, read.key, n, read.op, kNone});
        }
      }
      if (problem.history->status(problem.txn[n]) != TxnStatus::committed) continue;
      for (const WriteId w : problem.writes.of(n)) {
        last.set(problem.writes.key[w], s, n);
      }
    }
  }
  return true;
}

void force_by_read(const Problem& problem, Node reader, const ExternalRead& seen,
                   std::vector<VisibilityEdge>& edges) {
  const Node writer = problem.writes.node[seen.write];
  for (const ExternalRead& read : problem.reads[reader]) {
    const Node source = read.write == kNone ? kNone : problem.writes.node[read.write];
    if (source == writer || problem.write_of(writer, read.key) == kNone) continue;
    edges.push_back({writer, source, read.key, reader, read.op, seen.op});
  }
}

}  // namespace

bool force_read_atomic(const Problem& problem, std::vector<VisibilityEdge>& edges, Budget& budget) {
  if (!force_by_session(problem, edges, budget)) return false;
  std::vector<Node> last_seen(problem.nodes(), kNone);
  for (Node n = 0; n < problem.nodes(); ++n) {
    for (const ExternalRead& read : problem.reads[n]) {
      if (read.write == kNone) continue;
      Node& seen = last_seen[problem.writes.node[read.write]];
      if (seen == n) continue;
      seen = n;
      if (!room_to_grow(edges, problem.reads[n].size(), budget)) return false;
      force_by_read(problem, n, read, edges);
    }
  }
  return true;
}

}  // namespace assay::internal
