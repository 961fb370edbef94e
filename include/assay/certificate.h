// Certificates: why a verdict is right, in a form that can be re-checked against the history
// without knowing how it was found. Format on disk: docs/formats/certificate.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assay/anomaly.h"
#include "assay/history.h"
#include "assay/level.h"

namespace assay {

enum class Outcome : uint8_t { satisfied, violated, unknown };
std::string_view outcome_name(Outcome o);  // "satisfied", "violated", "unknown"

// Operation `op` observed `key` in the state that `source` left (kNone: the initial state). Needed
// for reads that several transactions could explain. With `element`, inside the library only: what
// `source` appended begins at this element of what others had appended to the list that `op` read;
// one entry for each of them.
struct Seen {
  OpId op = kNone;
  KeyId key = kNone;
  TxnId source = kNone;
  uint32_t element = kNone;
  friend auto operator<=>(const Seen&, const Seen&) = default;
};

// satisfied: a total order of the transactions that took effect. It lists every committed
// transaction, no aborted one, and those of unknown outcome that are taken to have committed.
//   split == false  `events` are TxnIds: reads and writes of a transaction happen together (or, for
//                   the weak levels, the commit order).
//   split == true   `events` are 2*TxnId for r (its reads) and 2*TxnId+1 for w (its writes).
struct Order {
  bool split = false;
  std::vector<uint32_t> events;
  // Only in commit orders of weak levels: reads whose source is not the last possible writer before
  // the reader.
  std::vector<Seen> sources = {};
};

// violated, no cycle needed: `read` (an operation of a committed or kept transaction) cannot be
// explained, `other` is the operation that shows it (kNone for a thin-air read).
struct BadRead {
  Anomaly anomaly = Anomaly::none;
  OpId read = kNone;
  OpId other = kNone;
};

// Why one event precedes another. The sides are fixed by the kind, given a level's event model
// (r and w are the same event in single models):
//   read_dependency   w(from) → r(to)   `to` reads `key` from `from`. At Adya's levels a range
//                                       depends, for a key that it did not return, on the last that
//                                       changed the match: `from`; it saw the version of `via`, if
//                                       not kNone
//   session           w(from) → r(to)   `from` is earlier in the session of `to`, and not of
//                                       unknown outcome
//   real_time         event → event     by the clocks; sides in from_write / to_write
//   write_dependency  w(from) → r(to)   both write `key`, assuming from <key to (to w(to) where the
//                                       level has no write-conflict rule)
//   anti_dependency   r(from) → w(to)   `from` reads `key` from `via` (kNone: the initial value),
//                                       `to` writes `key`, assuming via <key to (nothing to assume
//                                       for the initial value)
//   forced            as write_dependency, but proved on the spot: transaction `reader` reads `key`
//                     from `to`, `from` writes `key`, and `path` (read dependencies and session
//                     edges) leads from `from` to `reader`. Read committed: path is one read
//                     dependency, read before `op`. Read atomic: path is one edge. `op` is the read
//                     of `key`.
// r(T) → w(T) holds in every model and is never listed. At the weak levels, a reader of the initial
// value that had seen a writer of the key is a cycle: an anti-dependency (via kNone) and the path
// that shows what the reader saw.
enum class EdgeKind : uint8_t {
  read_dependency,
  session,
  real_time,
  write_dependency,
  anti_dependency,
  forced
};
std::string_view edge_kind_name(EdgeKind k);  // "read-dependency", "session", …

struct Edge {
  EdgeKind kind = EdgeKind::session;
  TxnId from = kNone;
  TxnId to = kNone;
  KeyId key = kNone;
  // anti-dependency: the writer that was read. forced: the reader. read dependency: the writer of
  // the version that a range saw, if it is not `from`
  TxnId via = kNone;
  OpId op = kNone;  // forced: the read of `key`; on a path: the read that makes a read dependency
  bool from_write = true;  // real_time only: true w, false r
  bool to_write = false;
  std::vector<Edge> path = {};  // forced only; the edges on it have no paths

  static Edge read_dependency(TxnId writer, TxnId reader, KeyId key, OpId op = kNone) {
    return {EdgeKind::read_dependency, writer, reader, key, kNone, op};
  }
  static Edge session_order(TxnId earlier, TxnId later) {
    return {EdgeKind::session, earlier, later};
  }
  static Edge real_time(TxnId from, bool from_write, TxnId to, bool to_write) {
    return {EdgeKind::real_time, from, to, kNone, kNone, kNone, from_write, to_write};
  }
  static Edge write_dependency(TxnId earlier, TxnId later, KeyId key) {
    return {EdgeKind::write_dependency, earlier, later, key};
  }
  // `source`: the writer that was read.
  static Edge anti_dependency(TxnId reader, TxnId writer, KeyId key, TxnId source,
                              OpId op = kNone) {
    return {EdgeKind::anti_dependency, reader, writer, key, source, op};
  }
  static Edge forced_order(TxnId earlier, TxnId later, KeyId key, TxnId reader, OpId op,
                           std::vector<Edge> path) {
    return {EdgeKind::forced, earlier, later, key, reader, op, true, false, std::move(path)};
  }
};

// What a history leaves open, as a proposition:
//   order   the versions that `from` wrote precede those that `to` wrote, on every key both write.
//           Its negation swaps the two, since in an acyclic choice all keys of a pair agree;
//           `negated` is not used
//   seen    `to` observed `key`, before its own writes, in the state that `from` left (kNone: the
//           initial state). With `op`, this operation did; the other operations of `to` may have
//           observed other states
//   effect  `to`, whose outcome is unknown, took effect; `from` is not used
//   block   `from` took effect, and what it appended to `key` begins at `element` of what others
//           had appended to the list that `op`, an operation of `to`, read; if `element` is the
//           number of these, it came later. Needed where the same element was appended more than
//           once
struct Literal {
  enum class Kind : uint8_t { order, seen, effect, block };
  TxnId from = kNone;
  TxnId to = kNone;
  Kind kind = Kind::order;
  bool negated = false;
  KeyId key = kNone;  // seen, block
  OpId op = kNone;    // seen, at levels that allow a transaction to see several states of a key;
                      // block: the read of the list
  uint32_t element = kNone;  // block

  static Literal order(TxnId before, TxnId after) { return {before, after}; }
  static Literal seen(TxnId reader, KeyId key, TxnId source, OpId op = kNone) {
    return {source, reader, Kind::seen, false, key, op};
  }
  static Literal effect(TxnId t) { return {kNone, t, Kind::effect}; }
  static Literal block(TxnId reader, KeyId key, OpId read_list, TxnId writer, uint32_t element) {
    return {writer, reader, Kind::block, false, key, read_list, element};
  }
  // Returns the negation of a literal.
  friend Literal operator!(Literal l) {
    if (l.kind == Kind::order) {
      std::swap(l.from, l.to);
    } else {
      l.negated = !l.negated;
    }
    return l;
  }
  friend auto operator<=>(const Literal&, const Literal&) = default;
};

// violated: a refutation. Each step adds a clause (a disjunction of literals); the last one is
// empty.
//   cycle    the edges close a cycle. Its clause says that the assumptions do not all hold, that is
//            the orders that its edges assume and what `given` lists. Without assumptions it is
//            empty and the proof is complete.
//   fact     `clause` is one order that the history states: a known order or a list that was read.
//            `source` is the index into known_orders(), or the OpId of the read_list with
//            source_is_op.
//   sources  operation `source` observed `key` as one of several transactions left it, or in its
//            initial state; `clause` has a `seen` for each. If the transaction of the operation may
//            not have taken effect, also its negated `effect`.
//   effect   `clause` is: not seen, or the source took effect; likewise with the negated effect of
//            the reader
//   blocks   `clause` says what every list is made of: one of the forms in certify/blocks.h, for
//            the list that operation `source` read; `element` is the element that it is about,
//            where the form has one
//   aggregate  operation `source` is an aggregate, and gives something else unless it observed one
//              of its keys as `clause` says, which
//            has a `seen` for each. If its transaction may not have taken effect, also its negated
//            `effect`.
//   derived  `clause` follows from earlier steps: assuming its negation, the clauses of `hints`
//            (indices of steps, in this order) each become unit or, the last one, false.
struct ProofStep {
  enum class Kind : uint8_t { cycle, fact, sources, effect, blocks, aggregate, derived };
  Kind kind = Kind::cycle;
  std::vector<Edge> cycle;
  std::vector<Literal> given = {};  // cycle: assumptions about uncertain sources and effects
  std::vector<Literal> clause;      // implied for Kind::cycle and left empty there
  std::vector<uint32_t> hints;
  uint32_t source = kNone;
  bool source_is_op = false;
  KeyId key = kNone;         // sources
  uint32_t element = kNone;  // blocks
};

struct Proof {
  std::vector<ProofStep> steps;
};

// violated, linearizability of one key: no order of the operations on `key` that respects the clock
// explains what they returned until the response of `until`. Each of its transactions is one
// operation. To re-check it the verifier enumerates the orders.
struct Exhausted {
  // A situation is what the key holds and which operations took effect. The search gives up beyond
  // this many, and so does the verifier, which never meets more than the search did.
  static constexpr uint64_t kMostSituations = 20'000'000;

  KeyId key = kNone;
  TxnId until = kNone;
};

// The reason for the verdict at one or more levels: an order, or a refutation, serves every level
// listed.
struct Certificate {
  enum class Kind : uint8_t { order, bad_read, proof, exhausted };
  std::vector<LevelId> levels;
  Kind kind = Kind::order;
  Order order;               // Kind::order, satisfied
  BadRead bad_read;          // Kind::bad_read, violated
  Proof proof;               // Kind::proof, violated
  Exhausted exhausted = {};  // Kind::exhausted, violated

  Outcome outcome() const { return kind == Kind::order ? Outcome::satisfied : Outcome::violated; }
};

// Two transactions wrote the same value to a key. Harmless until a transaction reads it.
struct DuplicateWrite {
  OpId first = kNone;
  OpId second = kNone;
  bool read = false;  // whether some transaction that took effect read the value
};

// The contents of a certificate file.
struct CertificateFile {
  std::string history_hash;  // History::content_hash()
  std::vector<Certificate> certificates;
  int64_t clock_drift = 0;  // History::clock_drift(), under which the certificates hold
  std::shared_ptr<const LevelInfo> defined_level = {};  // History::defined_level()
  // The certificates are about the recorded history with the reads of transactions that did not
  // commit counted; `history_hash` is the hash of that history.
  bool aborted_reads = false;
};

}  // namespace assay
