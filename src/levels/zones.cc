// Linearizability of one key in O(n log n), when every read is matched to its write.
//
//   w(x,1) [0,9]   r(x,1) [1,2]   w(x,2) [3,4]   r(x,1) [5,6]
//
// The two reads of 1 need x = 1 from 2 to 5 without a break; 2 is written within that time:
// violated.
//
// A *chain* is a plain write (or the initial value) followed along the successful
// compare-and-sets, each reading what the one before left. Nothing can come between the operations
// of a chain, since each value passes directly to the next. So a chain is one block:
//
//   write, its readers, compare-and-set, its readers, …
//
// Inside a block a later operation may not end before an earlier one begins. For the whole block
// only two times matter: f, the least end, and s, the greatest begin. Block A must precede block B
// iff f(A) < s(B): some operation of A ended before one of B began. Blocks that precede each other
// refute; if no two do, sorting by f + s is a linearization. So one pass in that order, which keeps
// the greatest s so far, decides.
//
// Failed operations say only what the value was not. They are fitted into the order that was found,
// each as early as possible; if one does not fit, the question stays open (linear_search.h).
//
// Sources: Gibbons and Korach (1997), whose zones these are; the chains of MTC (2025).

#include "levels/zones.h"

#include <algorithm>
#include <utility>

#include "levels/failed_operations.h"
#include "levels/zone_proof.h"

namespace assay::internal {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::min();

// a + b as its half, rounded down, and the rest, since it need not fit into 64 bits.
std::pair<int64_t, int64_t> sum(int64_t a, int64_t b) {
  return {(a & b) + ((a ^ b) >> 1), (a ^ b) & 1};
}

class KeyZones {
 public:
  KeyZones(const Problem& problem, const OperationTimes& times, const std::vector<uint32_t>& place,
           KeyId key)
      : history_(*problem.history), problem_(problem), times_(times), place_(place), key_(key) {}

  Judgement decide(std::span<const TxnId> failed) {
    if (!link() || !walk_chains() || !walk_cycles() || !compare())
      return Judgement::violated(std::move(proof_));
    std::vector<TxnId> sequence;
    std::vector<Segment> segments = emit(sequence);
    const bool fits = fits_the_clock(times_, sequence) &&
                      (failed.empty() || fit_failed(history_, times_, segments, failed, sequence));
    if (!fits) return {};
    return Judgement::satisfied({false, std::move(sequence)});
  }

 private:
  // The local number of the initial value; before it come the writes of the key, in the order of
  // the file.
  uint32_t initial() const { return static_cast<uint32_t>(writes().size()); }
  std::span<const WriteId> writes() const { return problem_.key_writers(key_); }
  Node node(uint32_t value) const { return problem_.writes.node[writes()[value]]; }
  TxnId txn(uint32_t value) const { return value == initial() ? kNone : problem_.txn[node(value)]; }
  std::span<const Node> readers(uint32_t value) const {
    return value == initial() ? problem_.initial_readers[key_] : problem_.readers[writes()[value]];
  }
  bool also_writes(Node n) const { return !problem_.writes.of(n).empty(); }

  // Links each value to the one that its writer read, if that was a compare-and-set. False if two
  // of them took the same one.
  bool link() {
    source_.assign(initial(), kNone);
    next_.assign(initial() + 1, kNone);
    for (uint32_t v = 0; v < initial(); ++v) {
      const auto reads = problem_.reads[node(v)];
      if (reads.empty()) continue;
      const uint32_t from = reads[0].write == kNone ? initial() : place_[reads[0].write];
      source_[v] = from;
      if (next_[from] != kNone) {
        proof_ = zone_proof().both_took({from, txn(from)}, txn(next_[from]), txn(v));
        return false;
      }
      next_[from] = v;
    }
    return true;
  }

  struct Chain {
    uint32_t head = 0;
    int64_t f = OperationTimes::kForever;
    int64_t s = kNever;
    ZonePlace first_end, last_begin;
  };

  bool walk_chains() {
    seen_.assign(initial() + 1, 0);
    if (!walk(initial())) return false;
    for (uint32_t v = 0; v < initial(); ++v) {
      if (source_[v] == kNone && !walk(v)) return false;
    }
    return true;
  }

  bool walk(uint32_t head) {
    Chain chain;
    chain.head = head;
    latest_ = {};
    latest_begin_ = kNever;
    if (head == initial()) chain.f = kNever;
    for (uint32_t v = head; v != kNone; v = next_[v]) {
      seen_[v] = 1;
      if (v != initial()) {
        if (!visit(chain, {v, txn(v), false})) return false;
        pass();
      }
      for (const Node reader : readers(v)) {
        if (!also_writes(reader) && !visit(chain, {v, problem_.txn[reader], true})) return false;
      }
      pass();
    }
    if (head != initial() || chain.s != kNever) chains_.push_back(chain);
    return true;
  }

  // Visits one operation of the chain. False if it ended before an earlier one of the chain began.
  bool visit(Chain& chain, const ZonePlace& at) {
    const int64_t begin = times_[at.txn].begin, end = times_[at.txn].end;
    if (end < latest_begin_) {
      proof_ = zone_proof().backwards(latest_, at);
      return false;
    }
    if (begin > step_begin_) {
      step_begin_ = begin;
      step_ = at;
    }
    if (end < chain.f) {
      chain.f = end;
      chain.first_end = at;
    }
    if (begin > chain.s) {
      chain.s = begin;
      chain.last_begin = at;
    }
    return true;
  }

  // Marks the operations visited since the last call as earlier than all that follow.
  void pass() {
    if (step_begin_ > latest_begin_) {
      latest_begin_ = step_begin_;
      latest_ = step_;
    }
    step_begin_ = kNever;
  }

  // Finds values that no chain reaches, which come from a ring of compare-and-sets.
  bool walk_cycles() {
    for (uint32_t v = 0; v < initial(); ++v) {
      if (seen_[v]) continue;
      proof_ = zone_proof().ring(v);
      return false;
    }
    return true;
  }

  bool compare() {
    const bool has_initial = !chains_.empty() && chains_[0].head == initial();
    std::sort(chains_.begin() + has_initial, chains_.end(),
              [](const Chain& a, const Chain& b) { return sum(a.f, a.s) < sum(b.f, b.s); });
    const Chain* last = nullptr;  // the one with the greatest s so far
    for (const Chain& chain : chains_) {
      if (last != nullptr && chain.f < last->s) {
        const ZoneBlock before{last->head, last->first_end, last->last_begin};
        proof_ = zone_proof().overlap(before, {chain.head, chain.first_end, chain.last_begin});
        return false;
      }
      if (last == nullptr || chain.s > last->s) last = &chain;
    }
    return true;
  }

  std::vector<Segment> emit(std::vector<TxnId>& sequence) const {
    std::vector<Segment> segments;
    for (const Chain& chain : chains_) {
      for (uint32_t v = chain.head; v != kNone; v = next_[v]) {
        if (v != initial()) {
          const OpId write = history_.first_op(txn(v));
          segments.push_back({sequence.size(), install_of(history_, write).state()});
          sequence.push_back(txn(v));
        }
        const size_t first = sequence.size();
        for (const Node reader : readers(v)) {
          if (!also_writes(reader)) sequence.push_back(problem_.txn[reader]);
        }
        std::sort(sequence.begin() + static_cast<std::ptrdiff_t>(first), sequence.end(),
                  [&](TxnId a, TxnId b) { return times_[a].begin < times_[b].begin; });
      }
    }
    return segments;
  }

  ZoneProof zone_proof() const {
    return {key_, initial(), source_, next_, [this](uint32_t v) { return txn(v); }};
  }

  const History& history_;
  const Problem& problem_;
  const OperationTimes& times_;
  const std::vector<uint32_t>& place_;
  const KeyId key_;
  std::vector<uint32_t> source_, next_;
  std::vector<uint8_t> seen_;
  std::vector<Chain> chains_;
  ZonePlace latest_, step_;  // in the chain being walked
  int64_t latest_begin_ = kNever, step_begin_ = kNever;
  Proof proof_;
};

}  // namespace

Zones::Zones(const Problem& problem, const OperationTimes& times)
    : problem_(problem), times_(times), place_(problem.writes.size()) {
  for (KeyId key = 0; key < problem.keys(); ++key) {
    uint32_t place = 0;
    for (const WriteId w : problem.key_writers(key)) place_[w] = place++;
  }
}

Judgement Zones::decide(KeyId key, std::span<const TxnId> failed) {
  return KeyZones(problem_, times_, place_, key).decide(failed);
}

}  // namespace assay::internal
