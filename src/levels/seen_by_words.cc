// Faults of a commit order if a transaction has seen those from which a word of one to three steps
// leads to it.
//
//   read-committed        r      what an earlier read of the transaction is from
//   read-atomic           s r    its session, and what it reads from
//   read-your-writes      s
//   monotonic-reads       rs     what an earlier transaction of its session reads from
//   monotonic-writes      sr     what is earlier in the session of a transaction that it reads from
//   writes-follow-reads   rr     what that one reads from,
//                         rsr    or an earlier transaction of its session
//
//   s1: { w(x,1) }   s2: { r(x,1) } { r(x,null) }     rs: the second transaction of s2 has seen s1,
//                                                     and yet reads the x before it
//
// Of all writers of x that a reader has seen only the last one in the order matters: if it is
// before t1, or t1 itself, so are the others. A walk through each session keeps, for each key, the
// last writer among the session's own writers (s), and among the writers that it read from (rs). At
// each transaction it asks the first two about the reads of the transaction itself, or, where the
// word goes on with an r, about the reads of its readers.
//
// What a transaction reads from directly (r) is compared with its other reads: for each key the
// nearest read after the one that makes a writer visible, or the next one if the nearest is from
// that writer. A farther one is reached through a chain, since each writer read in between has
// itself been read before it. If only single steps count, no edge depends on the order: if it has a
// fault, all edges are given at once, and one more order decides.
//
// Cost: for each round the writes of all that sessions read from; for r, for each transaction and
// each writer that it reads from, the smaller of the two key sets; where words end with sr or rr,
// the reads of all readers of every transaction. Sources: Biswas and Enea, OOPSLA 2019; AWDIT, PLDI
// 2025; the guarantees are those of Terry et al. 1994, for transactions.

#include <algorithm>

#include "base/room.h"
#include "infer/reads_from.h"
#include "levels/seen_faults.h"

namespace assay::internal {
namespace {

// Per key the last writer in the order that was seen; cleared at the next session.
class LastSeen {
 public:
  LastSeen(size_t keys, const std::vector<uint32_t>& place)
      : writer_(keys, kNone), session_(keys, kNone), place_(place) {}
  void start(uint32_t session) { current_ = session; }
  void see(const Problem& problem, Node writer) {
    for (const WriteId w : problem.writes.of(writer)) see(problem.writes.key[w], writer);
  }
  Node of(KeyId key) const { return session_[key] == current_ ? writer_[key] : kNone; }

 private:
  void see(KeyId key, Node writer) {
    if (session_[key] == current_ && place_[writer_[key]] >= place_[writer]) return;
    session_[key] = current_;
    writer_[key] = writer;
  }

  std::vector<Node> writer_;
  std::vector<uint32_t> session_;
  const std::vector<uint32_t>& place_;
  uint32_t current_ = kNone;
};

// The reads of one transaction that come next, per key: the nearest, and the nearest from another
// source. A transaction reads few keys, so a sorted vector is searched fast, and for most keys that
// others write one word tells that they are not among them.
class NextReads {
 public:
  struct OfKey {
    KeyId key = kNone;
    uint32_t count = 0;
    WriteId source[2] = {kNone, kNone};  // kNone: the initial value
    OpId op[2] = {kNone, kNone};
  };

  void start(const std::vector<ExternalRead>& reads) {
    keys_.clear();
    filter_ = 0;
    for (const ExternalRead& read : reads) {
      filter_ |= bit(read.key);
      keys_.push_back({read.key});
    }
    const auto by_key = [](const OfKey& a, const OfKey& b) { return a.key < b.key; };
    std::sort(keys_.begin(), keys_.end(), by_key);
    const auto same_key = [](const OfKey& a, const OfKey& b) { return a.key == b.key; };
    keys_.erase(std::unique(keys_.begin(), keys_.end(), same_key), keys_.end());
  }

  // To be called in reverse program order.
  void add(const ExternalRead& read) {
    OfKey& of = *std::lower_bound(keys_.begin(), keys_.end(), read.key, is_before);
    if (of.count == 0 || of.source[0] != read.write) {
      of.source[1] = of.source[0];
      of.op[1] = of.op[0];
      of.count = std::min(of.count + 1, 2u);
    }
    of.source[0] = read.write;
    of.op[0] = read.op;
  }

  // Calls `visit` with each key that the node writes and that is read later.
  template <class Visit>
  void each_written_by(const Problem& problem, Node writer, Visit visit) const {
    if (problem.writes.of(writer).size() > keys_.size()) {
      for (const OfKey& of : keys_)
        if (of.count > 0 && problem.write_of(writer, of.key) != kNone) visit(of);
      return;
    }
    for (const WriteId w : problem.writes.of(writer)) {
      const KeyId key = problem.writes.key[w];
      if ((filter_ & bit(key)) == 0) continue;
      const auto of = std::lower_bound(keys_.begin(), keys_.end(), key, is_before);
      if (of != keys_.end() && of->key == key && of->count > 0) visit(*of);
    }
  }

  size_t keys() const { return keys_.size(); }

 private:
  static bool is_before(const OfKey& of, KeyId key) { return of.key < key; }
  static uint64_t bit(KeyId key) { return uint64_t{1} << ((key * 0x9E3779B1u) >> 26); }

  uint64_t filter_ = 0;
  std::vector<OfKey> keys_;
};

class SeenByWords : public SeenFaults {
 public:
  SeenByWords(const Problem& problem, const SeenBy& seen)
      : problem_(problem),
        earlier_reads_(seen.earlier_reads),
        place_(problem.nodes()),
        met_by_(problem.nodes(), kNone) {
    for (const std::string_view word : seen.words) {
      s_ = s_ || word == "s";
      r_ = r_ || word == "r";
      rs_ = rs_ || word == "rs";
      sr_ = sr_ || word == "sr";
      rr_ = rr_ || word == "rr";
      rsr_ = rsr_ || word == "rsr";
    }
    if (!problem_.repeating.empty() && (s_ || rs_ || asks_readers())) list_reads();
    if (asks_readers()) index_readers();
  }

  static uint64_t bytes(const Problem& problem) {
    const uint64_t readers = sizeof(std::pair<Node, Node>) + sizeof(Node);
    return 4 * sizeof(uint32_t) * problem.nodes() + 4 * sizeof(uint32_t) * problem.keys() +
           (sizeof(ExternalRead) + readers) * problem.reads.items.size();
  }

  bool find(const std::vector<Vertex>& order, std::vector<VisibilityEdge>& edges,
            Budget& budget) override {
    if (all_) return true;  // they were given in the first round
    for (uint32_t i = 0; i < order.size(); ++i) place_[order[i]] = i;
    const size_t known = edges.size();
    if (!walk(edges, budget)) return false;
    const bool local = !rs_ && !asks_readers();
    if (edges.size() == known || !local) return true;
    edges.resize(known);
    all_ = true;
    return walk(edges, budget);
  }

 private:
  bool asks_readers() const { return sr_ || rr_ || rsr_; }
  bool committed(Node n) const {
    return problem_.history->status(problem_.txn[n]) == TxnStatus::committed;
  }
  Node source(const ExternalRead& read) const {
    return read.write == kNone ? kNone : problem_.writes.node[read.write];
  }
  // The reads of a node, including repeated ones.
  std::span<const ExternalRead> reads_of(Node n) const {
    return reads_.items.empty() ? problem_.reads[n] : reads_[n];
  }

  void list_reads() {
    std::vector<ExternalRead> reads;
    for (Node n = 0; n < problem_.nodes(); ++n) {
      external_reads(problem_, n, reads);
      reads_.items.insert(reads_.items.end(), reads.begin(), reads.end());
      reads_.close();
    }
  }

  void index_readers() {
    std::vector<std::pair<Node, Node>> pairs;  // source, reader
    for (Node n = 0; n < problem_.nodes(); ++n)
      for (const ExternalRead& read : reads_of(n))
        if (read.write != kNone) pairs.emplace_back(source(read), n);
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    readers_ = collect_rows(problem_.nodes(), pairs);
  }

  bool walk(std::vector<VisibilityEdge>& edges, Budget& budget) {
    LastSeen written(s_ || sr_ ? problem_.keys() : 0, place_),
        read(rs_ || rsr_ ? problem_.keys() : 0, place_);
    for (uint32_t s = 0; s < problem_.sessions.size(); ++s) {
      written.start(s);
      read.start(s);
      for (const Node n : problem_.sessions[s]) {
        if (!room_to_grow(edges, reads_of(n).size(), budget)) return false;
        if (s_) check(n, written, edges);
        if (rs_) check(n, read, edges);
        if (r_ && !check_sources(n, edges, budget)) return false;
        if (sr_) ask_readers(n, written, edges);
        // A transaction of unknown outcome has no successor: its reads matter only to its own
        // readers.
        if (rr_ && !(rsr_ && committed(n))) ask_readers_of_source(n, edges);
        if (rsr_ && !(rr_ && committed(n))) ask_readers(n, read, edges);
        if (!committed(n)) continue;
        if (s_ || sr_) written.see(problem_, n);
        if (!rs_ && !rsr_) continue;
        for (const ExternalRead& own : reads_of(n))
          if (own.write != kNone) read.see(problem_, source(own));
        if (rr_ && rsr_) ask_readers(n, read, edges);
      }
    }
    return true;
  }

  // Compares what the transaction reads from with its reads: with the later ones, or all.
  bool check_sources(Node n, std::vector<VisibilityEdge>& edges, Budget& budget) {
    external_reads(problem_, n, own_);
    if (own_.size() < 2) return true;
    first_.assign(own_.size(), 0);
    for (size_t i = 0; i < own_.size(); ++i) {
      if (own_[i].write == kNone) continue;
      Node& met = met_by_[source(own_[i])];
      first_[i] = met != n;
      met = n;
    }
    for (const ExternalRead& read : own_)
      if (read.write != kNone) met_by_[source(read)] = kNone;
    next_.start(own_);
    size_t behind = own_.size();  // reads from here on have been added
    if (!earlier_reads_)
      while (behind > 0) next_.add(own_[--behind]);
    for (size_t i = own_.size(); i-- > 0;) {
      // One operation on a range sees everything at once.
      if (behind > i + 1 && own_[i].op != own_[behind - 1].op)
        while (behind > i + 1) next_.add(own_[--behind]);
      if (first_[i] == 0) continue;
      if (!room_to_grow(edges, next_.keys(), budget)) return false;
      const Node seen = source(own_[i]);
      next_.each_written_by(problem_, seen, [&](const NextReads::OfKey& next) {
        for (uint32_t at = 0; at < next.count; ++at) {
          const Node from =
              next.source[at] == kNone ? kNone : problem_.writes.node[next.source[at]];
          if (from == seen) continue;
          add({seen, from, next.key, n, next.op[at], own_[i].op}, edges);
          return;
        }
      });
    }
    return true;
  }

  void ask_readers(Node n, const LastSeen& seen, std::vector<VisibilityEdge>& edges) const {
    for (const Node reader : readers_[n]) check(reader, seen, edges);
  }

  void ask_readers_of_source(Node n, std::vector<VisibilityEdge>& edges) const {
    for (const ExternalRead& own : reads_of(n)) {
      if (own.write == kNone) continue;
      for (const Node reader : readers_[n])
        for (const ExternalRead& read : reads_of(reader))
          if (problem_.write_of(source(own), read.key) != kNone)
            check(reader, read, source(own), edges);
    }
  }

  void check(Node reader, const LastSeen& seen, std::vector<VisibilityEdge>& edges) const {
    for (const ExternalRead& read : reads_of(reader)) {
      const Node last = seen.of(read.key);
      if (last != kNone) check(reader, read, last, edges);
    }
  }

  // Checks whether `last`, which `reader` saw and which writes the key of `read`, comes too late in
  // the order.
  void check(Node reader, const ExternalRead& read, Node last,
             std::vector<VisibilityEdge>& edges) const {
    if (last != source(read) && last != reader)
      add({last, source(read), read.key, reader, read.op, kNone}, edges);
  }

  void add(const VisibilityEdge& edge, std::vector<VisibilityEdge>& edges) const {
    if (all_ || edge.to == kNone || place_[edge.from] > place_[edge.to]) edges.push_back(edge);
  }

  const Problem& problem_;
  bool s_ = false, r_ = false, rs_ = false, sr_ = false, rr_ = false, rsr_ = false;  // which words
                                                                                     // the level
                                                                                     // has
  const bool earlier_reads_;
  bool all_ = false;             // all edges are given, whether or not the order follows them
  std::vector<uint32_t> place_;  // indexed by node
  Rows<ExternalRead> reads_;     // indexed by node, with repeated reads; empty: there are none
  Rows<Node> readers_;           // indexed by node: its readers
  // The next members belong to the transaction that is being examined.
  std::vector<ExternalRead> own_;
  std::vector<uint8_t> first_;  // indexed by read: whether it is the first from its source
  std::vector<Node> met_by_;    // indexed by node
  NextReads next_;
};

}  // namespace

bool SeenFaults::prepare(const std::vector<Vertex>&, Budget&) { return true; }
std::vector<Vertex> SeenFaults::better_order(const std::vector<Vertex>&) const { return {}; }

std::unique_ptr<SeenFaults> SeenFaults::make(const Problem& problem, const Digraph& base,
                                             const SeenBy& seen, Budget& budget) {
  if (seen.repeated) return seen_by_any_path(problem, base, budget);
  if (!budget.has_room(SeenByWords::bytes(problem))) return nullptr;
  return std::make_unique<SeenByWords>(problem, seen);
}

}  // namespace assay::internal
