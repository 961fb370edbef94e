// Read committed (Biswas and Enea): within a transaction, reads never go back in commit order. If a
// transaction read anything from t2 and afterwards reads x from t1, and t2 writes x, then t2
// commits before t1.
//
//   s1: { w(x,1) w(y,1) }       t1
//   s2: { w(x,2) w(y,2) }       t2
//   s3: { r(y,2) r(x,1) }       read from t2 first: t2 before t1. Allowed, unless …
//   s4: { r(y,1) r(x,2) }       … t1 before t2 is forced too: a cycle
//
// For each transaction, backwards over its reads: `near` keeps, per key, the writers of the nearest
// and of the next different later read of that key. The first read from a writer w forces w before
// the nearest later writer of each key that w writes (the second nearest where that is w itself).
// Two entries are enough: a farther one is reached through a chain, because each writer read in
// between has itself been read before it. A key may be read more than once here, from different
// writers; every read counts.
//
// Cost: for each transaction and each writer it read from, the smaller of the two key sets. Source:
// AWDIT (PLDI 2025).

#include <algorithm>

#include "base/room.h"
#include "infer/reads_from.h"
#include "levels/weak.h"

namespace assay::internal {
namespace {

struct Near {
  KeyId key = kNone;
  WriteId writer[2] = {kNone, kNone};
  OpId op[2] = {kNone, kNone};
  bool initial[2] = {false, false};
  int count = 0;

  Node node(const Problem& problem, int i) const {
    return initial[i] ? kNone : problem.writes.node[writer[i]];
  }
};

// Later reads by key; a transaction reads few keys, so a sorted vector is found fast, and most keys that others write
// are known from one word not to be among them.
class NearReads {
 public:
  void start(const std::vector<ExternalRead>& reads) {
    entries_.clear();
    filter_ = 0;
    for (const ExternalRead& read : reads) filter_ |= bit(read.key);
    for (const ExternalRead& read : reads) {
      entries_.emplace_back();
      entries_.back().key = read.key;
    }
    const auto by_key = [](const Near& a, const Near& b) { return a.key < b.key; };
    std::sort(entries_.begin(), entries_.end(), by_key);
    const auto same_key = [](const Near& a, const Near& b) { return a.key == b.key; };
    entries_.erase(std::unique(entries_.begin(), entries_.end(), same_key), entries_.end());
  }

  Near* find(KeyId key) {
    if ((filter_ & bit(key)) == 0) return nullptr;
    const auto it = std::lower_bound(entries_.begin(), entries_.end(), key,
                                     [](const Near& e, KeyId k) { return e.key < k; });
    return it != entries_.end() && it->key == key ? &*it : nullptr;
  }

  std::vector<Near>& all() { return entries_; }

  void push(const ExternalRead& read) {
    Near& near = *find(read.key);
    const bool initial = read.write == kNone;
    if (near.count > 0 && near.initial[0] == initial && near.writer[0] == read.write) {
      near.op[0] = read.op;
      return;
    }
    near.writer[1] = near.writer[0];
    near.op[1] = near.op[0];
    near.initial[1] = near.initial[0];
    near.writer[0] = read.write;
    near.op[0] = read.op;
    near.initial[0] = initial;
    near.count = std::min(near.count + 1, 2);
  }

 private:
  static uint64_t bit(KeyId key) { return uint64_t{1} << ((key * 0x9E3779B1u) >> 26); }

  uint64_t filter_ = 0;
  std::vector<Near> entries_;
};

}  // namespace

bool force_read_committed(const Problem& problem, std::vector<VisibilityEdge>& edges,
                          Budget& budget) {
  std::vector<ExternalRead> reads;
  std::vector<uint8_t> first;
  std::vector<Node> last_seen(problem.nodes(),
                              kNone);  // the last reader for which the writer was met
  NearReads near;
  for (Node n = 0; n < problem.nodes(); ++n) {
    if (budget.exhausted()) return false;
    external_reads(problem, n, reads);
    if (reads.size() < 2) continue;
    first.assign(reads.size(), 0);
    for (size_t i = 0; i < reads.size(); ++i) {
      if (reads[i].write == kNone) continue;
      Node& seen = last_seen[problem.writes.node[reads[i].write]];
      first[i] = seen != n;
      seen = n;
    }
    near.start(reads);
    size_t pending = reads.size();  // from here until `i`: reads of the same operation, a range
    for (size_t i = reads.size(); i-- > 0;) {
      if (pending > i + 1 && reads[i].op != reads[pending - 1].op)
        while (pending > i + 1) near.push(reads[--pending]);
      if (first[i]) {
        if (!room_to_grow(edges, near.all().size(), budget)) return false;
        const Node writer = problem.writes.node[reads[i].write];
        const auto force = [&](const Near& later) {
          for (int at = 0; at < later.count; ++at) {
            const Node to = later.node(problem, at);
            if (to == writer) continue;
            edges.push_back({writer, to, later.key, n, later.op[at], reads[i].op});
            return;
          }
        };
        const size_t writes = problem.writes.of(writer).size();
        if (writes <= near.all().size()) {
          for (const WriteId w : problem.writes.of(writer)) {
            if (const Near* later = near.find(problem.writes.key[w])) force(*later);
          }
        } else {
          for (const Near& later : near.all()) {
            if (later.count > 0 && problem.write_of(writer, later.key) != kNone) force(later);
          }
        }
      }
    }
  }
  return true;
}

}  // namespace assay::internal
