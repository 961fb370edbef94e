// A decision problem: which transactions count, their writes and reads, the known part of the
// version order, and the open questions. Engines get a problem, a level, and how to decide.
//
// A transaction counts if it committed, or if its outcome is unknown and some transaction that
// counts read from it, or a stated order of versions names it; an unknown transaction that is
// neither read nor named is dropped, which never changes a verdict. What counts is numbered
// densely, in the order of the history: a *node* is a transaction that counts, a *write* the final
// write of a node to a key.
//
//   s1: { w(x,1) w(x,2) }             node 0, write 0 = (x,2); w(x,1) is intermediate, no one may
//                                     see it
//   s2: { r(x,2) r(x,2) w(y,1) }      node 1, one read: x from write 0; write 1 = (y,1)
//
// A *part* of a problem is a problem like any other, with less in it: some of the keys, and of the
// transactions those that use them. It numbers its nodes, writes and keys anew, which keeps tables
// over the part as small as the part.
//
//   the part of y above: key 0, which the whole calls key 1; node 0, which is transaction 1; write
//   0 = (y,1)
//
// Transactions, operations and versions have the numbers of the history in every problem, so an
// order of a part speaks of the same transactions as one of the whole, and in a proof only keys
// have to be translated (in_whole).
//
// A problem refers to its history, which must outlive it, and does not change once it is made.
// Cost: matching the reads (reads_from.cc), the stated orders and the hint; for a part, the share
// of the whole that it contains (projection.cc).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "assay/budget.h"
#include "assay/certificate.h"
#include "assay/history.h"
#include "infer/known_orders.h"
#include "infer/rows.h"

namespace assay::internal {

class OpenReads;

using Node = uint32_t;
using WriteId = uint32_t;

// An external read: the first of its key in its transaction, before the transaction itself writes
// the key.
struct ExternalRead {
  KeyId key;
  WriteId write;  // kNone: the initial value
  OpId op;
};

// The history states that `before` wrote `key` before `after` did.
struct StatedOrder {
  Node before;
  Node after;
  KeyId key;
  uint32_t source;  // index into History::known_orders(), or the OpId of the read_list
  bool source_is_op;
};

// A range of adjacent writes.
struct WriteRange {
  struct Iterator {
    WriteId write;
    WriteId operator*() const { return write; }
    Iterator& operator++() {
      ++write;
      return *this;
    }
    bool operator==(const Iterator&) const = default;
  };

  WriteId first, last;  // `last` is not included
  Iterator begin() const { return {first}; }
  Iterator end() const { return {last}; }
  size_t size() const { return last - first; }
  bool empty() const { return first == last; }
};

// The writes of all nodes. Those of a node are adjacent, sorted by key.
struct Writes {
  std::vector<uint32_t> begin;     // indexed by node, and one more entry
  std::vector<KeyId> key;          // indexed by write
  std::vector<Node> node;          // indexed by write
  std::vector<VersionId> version;  // indexed by write
  Rows<WriteId> of_key;            // indexed by key: its writes, in node order
  // Indexed by version of the history: a write that installs it, kNone if none does; empty in a
  // part (Problem::write_of_version).
  std::vector<WriteId> of_version;

  size_t size() const { return key.size(); }
  WriteRange of(Node n) const { return {begin[n], begin[n + 1]}; }
};

// The findings of matching reads: refutations, doubts, and facts that are only reported. A part has
// none, since they are dealt with before parts are made.
struct Findings {
  // The first read that the kind of reads asked for does not allow; the first that only the weakest
  // levels allow.
  BadRead bad_read;
  BadRead non_repeatable;
  // For dirty reads: an operation and a key that never had the state that the operation saw; kNone
  // if there is none.
  OpId unexplained = kNone;
  KeyId unexplained_key = kNone;
  std::vector<DuplicateWrite> duplicates;
  KnownOrders known;  // what the stated orders of versions name, and where they contradict each
                      // other or the history
  // A key that transactions which did not abort use as a list and as a register; kNone if there is
  // none.
  KeyId mixed = kNone;
};

// A guess at when things happened, from which the search starts: comparable numbers without a unit,
// per node. It is never trusted: it only decides the order of trying.
struct Hint {
  std::vector<int64_t> read_time;
  std::vector<int64_t> write_time;
  bool by_reads = false;  // whether it depends only on the sources of reads and session order
  bool by_order = false;  // whether it is an order that explains all but a few operations
};

struct Problem {
  const History* history = nullptr;

  // The counting transactions.
  std::vector<TxnId> txn;  // indexed by node, ascending
  std::vector<Node> node;  // indexed by transaction, kNone if it does not count; empty in a part
                           // (node_of)
  // Per session its nodes in session order; a part leaves out sessions without nodes.
  std::vector<std::vector<Node>> sessions;
  // Nodes that may take effect, ascending: transactions of unknown outcome with neither reads nor
  // writes here.
  std::vector<Node> possible;

  // The writes and reads of the nodes.
  Writes writes;
  Rows<ExternalRead> reads;     // by node, in program order
  Rows<Node> readers;           // by write: nodes that read it externally
  Rows<Node> initial_readers;   // by key
  std::vector<Node> repeating;  // nodes that read a key more than once externally, ascending
  bool has_lists = false;       // whether some external read is of a list
  // For dirty reads: keys of which an operation saw a version that stayed and that several writes
  // explain. A key may occur more than once.
  std::vector<KeyId> seen_openly;
  // The assumed sources of reads that several writes explain; sorted, with keys of the history.
  std::vector<Seen> assumed;

  // The known part of the version order.
  std::vector<StatedOrder> stated;

  // Operations of counting transactions whose source is open, ascending: satisfied may not be
  // concluded without them.
  std::vector<OpId> unresolved;
  // The possible sources of `unresolved`, if an engine has to choose them; otherwise null.
  std::shared_ptr<const OpenReads> open;

  Hint hint;
  Findings found;

  // Maps a part to the whole: the number of each key there, ascending. Empty: this is a whole.
  std::vector<KeyId> whole_key;

  size_t nodes() const { return txn.size(); }
  size_t keys() const { return writes.of_key.rows(); }
  bool is_part() const { return !whole_key.empty(); }
  std::span<const WriteId> key_writers(KeyId k) const { return writes.of_key[k]; }
  bool is_possible(Node n) const { return std::binary_search(possible.begin(), possible.end(), n); }

  // The node of a transaction, kNone if it does not count or is not in the part.
  Node node_of(TxnId t) const { return is_part() ? find_node(t) : node[t]; }
  // The write of `n` to `k`, kNone if there is none.
  WriteId write_of(Node n, KeyId k) const;
  // A write that installs a version, kNone if there is none.
  WriteId write_of_version(VersionId v) const;
  // The number here of a key of the whole; kNone if it is not in the part.
  KeyId key_of(KeyId whole) const;

  // Turns a proof for a part into one for the whole.
  Proof in_whole(Proof proof) const;

  // That numbers are dense, rows sorted, and what is stored twice, such as writers and readers, the
  // same in both places.
  void check_invariants() const;

 private:
  Node find_node(TxnId t) const;
};

// Session order: calls visit(before, n) for each node n and the last committed node before it in
// its session.
template <class Visit>
void each_session_step(const Problem& problem, Visit visit) {
  for (const std::vector<Node>& session : problem.sessions) {
    Node before = kNone;
    for (const Node n : session) {
      if (before != kNone) visit(before, n);
      if (problem.history->status(problem.txn[n]) == TxnStatus::committed) before = n;
    }
  }
}

// Which reads of other transactions are allowed. clean: of the final writes of a transaction that
// takes effect. dirty: of any write, aborted or overwritten, as at pl-1; then being read does not
// make a transaction take effect.
enum class Reads : uint8_t { clean, dirty };

// Options for matching reads.
struct Matching {
  Reads reads = Reads::clean;
  // Transactions of unknown outcome, ascending; the non-counting ones become nodes too
  // (Problem::possible).
  std::span<const TxnId> possible = {};
  unsigned threads = 1;  // 0: one per core; the result is the same for every number
};

// Whether what matching holds fits into memory: the origin and the write of each version, a read
// for each other operation, and indices of these.
bool has_room_to_match(const History& history, Budget& budget);
// The problem of a whole history, with assumed sources as in match_reads (reads_from.h). If a read
// refutes every level, nothing is left to decide, and there is no hint. The result must not be used
// if the budget ran out.
Problem make_problem(const History& history, std::span<const Seen> assumed, Budget& budget,
                     const Matching& how = {});
// The same without a limit.
Problem make_problem(const History& history, std::span<const Seen> assumed = {});

}  // namespace assay::internal
