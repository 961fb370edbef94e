// Reads-from: which transactions count, and which write each of their reads returned.
//
// A transaction counts if it committed, or if its outcome is unknown and some transaction that counts read from it, or a
// stated order of versions names it; an unknown transaction that is neither read nor named is dropped, which never
// changes a verdict. What counts is numbered densely: a *node* is a transaction that counts, a *write* the final write of
// a node to a key.
//
//   s1: { w(x,1) w(x,2) }             node 0, write 0 = (x,2); w(x,1) is intermediate, no one may see it
//   s2: { r(x,2) r(x,2) w(y,1) }      node 1, one read: x from write 0; write 1 = (y,1)
//
// Reads after an own write, and repeated reads, are checked here and then dropped. Reads that no
// single write explains (a value written twice, a failed compare-and-set) are kept apart as
// unresolved.
//
// Cost: two passes over the operations, one array access a read; this is the floor of every check.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "assay/budget.h"
#include "assay/certificate.h"
#include "assay/history.h"
#include "infer/known_orders.h"

namespace assay::internal {

using Node = uint32_t;
using WriteId = uint32_t;

// An external read: the first of its key in its transaction, before any own write of the key.
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

// Rows of variable length in one array.
template <class T>
struct Rows {
  std::vector<uint32_t> begin{0};  // size rows + 1
  std::vector<T> items;

  std::span<const T> operator[](size_t row) const {
    return {items.data() + begin[row], begin[row + 1] - begin[row]};
  }
  size_t rows() const { return begin.size() - 1; }
};

struct ReadsFrom {
  std::vector<TxnId> txn;             // per node
  std::vector<Node> node;             // per transaction; kNone if it does not count
  Rows<ExternalRead> reads;           // per node, in program order
  std::vector<uint32_t> write_begin;  // per node and one more: its writes are adjacent WriteIds
  std::vector<KeyId> write_key;       // per write
  std::vector<Node> write_node;
  std::vector<VersionId> write_version;
  std::vector<WriteId> write_of_version;    // per version: a write that installs it, kNone if none
  Rows<Node> readers;                       // per write: nodes that read it externally
  Rows<WriteId> writers;                    // per key: its writes, in node order
  Rows<Node> initial_readers;               // per key
  std::vector<std::vector<Node>> sessions;  // per session: nodes in session order
  std::vector<Node> repeating;  // nodes that read a key more than once externally, ascending

  KnownOrders known;  // what the stated orders of versions name
  // Of a part of a history, in its numbers: what is stated of its keys. Of a whole history stated_orders.h finds that.
  std::optional<std::vector<StatedOrder>> stated;

  // What was assumed about reads that several writes explain; sorted.
  std::vector<Seen> assumed;
  // Nodes that may take effect: transactions of unknown outcome with neither reads nor writes here.
  std::vector<Node> possible;

  bool has_lists = false;  // some external read is of a list
  KeyId mixed =
      kNone;  // a key that transactions which did not abort use as a list and as a register

  // The first read that the reads asked for do not allow; the first that only the weakest levels allow.
  BadRead bad_read;
  BadRead non_repeatable;
  // Dirty reads: an operation and a key of which nobody ever left what it saw; kNone if there is none.
  OpId unexplained = kNone;
  KeyId unexplained_key = kNone;
  std::vector<DuplicateWrite> duplicates;
  // Operations of counting transactions whose source is open: satisfied may not be concluded
  // without them.
  std::vector<OpId> unresolved;

  size_t nodes() const { return txn.size(); }
  bool is_possible(Node n) const;
  size_t writes() const { return write_key.size(); }
  std::span<const WriteId> key_writers(KeyId k) const { return writers[k]; }
  // The write of `n` to `k`, kNone if there is none. A node's writes are sorted by key.
  WriteId write_of(Node n, KeyId k) const;
};

// Which reads of other transactions count. clean: of what a transaction that takes effect left behind. dirty: of
// anything that anybody ever wrote, aborted or overwritten, as at pl-1; then nobody takes effect for having been read.
enum class Reads : uint8_t { clean, dirty };

// `assumed` is sorted, speaks of unresolved operations only, and names sources that could be right. `possible` names
// transactions of unknown outcome, ascending; those that do not count become nodes too (ReadsFrom::possible). Stops
// early when the budget runs out; what it returns is not to be used then.
ReadsFrom match_reads(const History& history, std::span<const Seen> assumed, Budget& budget,
                      Reads reads = Reads::clean, std::span<const TxnId> possible = {});
// Without a limit.
ReadsFrom match_reads(const History& history, std::span<const Seen> assumed = {});

// Every external read of a node in program order, repetitions included, as read committed counts
// them. Appends to `out`, which is cleared first. Leaves out reads that no write explains.
void external_reads(const History& history, const ReadsFrom& rf, Node n,
                    std::vector<ExternalRead>& out);

}  // namespace assay::internal
