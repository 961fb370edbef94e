// Lists in which the same element was appended more than once: which transaction appended which
// elements.
//
//   A { a(l,1) }   B { a(l,1) }   C { a(l,2) }   R: r(l,[1,2])   S: r(l,[1])
//   The block of A begins at element 0, or A appended after R; so does B's. C's begins at element
//   1.
//
// A transaction appends to a list in one piece, its *block*. A list that was read, without its
// reader's own elements, is a sequence of the blocks of all transactions that had appended by then.
// All lists of a key are prefixes of the longest, so one choice for all of them says where blocks
// begin; a list that is not a prefix of it gets separate choices, and will contradict it. So does a
// list whose reader need not have taken effect, if it is longer than the longest list of a reader
// that did.
//
// Cost: the elements of the lists, and for each element its writers.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "assay/budget.h"
#include "assay/history.h"
#include "infer/problem.h"

namespace assay::internal {

// A list, with the reads that returned a prefix of it.
struct OpenList {
  // What a transaction appended to the key.
  struct Block {
    TxnId txn = kNone;
    std::vector<VersionId> elements = {};
    // The places where the block fits, ascending. It may also have been appended after all reads.
    std::vector<uint32_t> places = {};
  };
  // An operation that read the first `length` elements of the list.
  struct Read {
    OpId op = kNone;
    TxnId reader = kNone;
    uint32_t length = 0;
  };

  KeyId key = kNone;
  OpId op = kNone;  // the operation that read the whole list
  TxnId reader = kNone;
  std::span<const VersionId> elements;
  // The list does not end in what its reader had appended, so the reader did not take effect. Then
  // `length` is 0.
  bool lacks_own = false;
  std::vector<Block> blocks;  // of all transactions that may count, sorted by transaction
  std::vector<Read> reads;    // the first one is the read of the whole list

  // The number of choices that the list takes: one for each place of a block, and one per block for
  // having come later.
  uint64_t choices() const;
};

class OpenLists {
 public:
  explicit OpenLists(const History& history) : h_(history) {}

  // Adds a read of a list. `certain`: the reader certainly takes effect.
  void add(OpId read_list, bool certain);
  // The transactions of unknown outcome that may have appended to the list that this operation
  // read, ascending.
  std::vector<TxnId> possible_writers(OpId read_list);
  // Groups the reads and finds the blocks of the transactions that may take effect according to
  // `counts`. Nothing may be added after that. False if the budget ran out, as happens where
  // thousands of blocks fit thousands of places; then there are no lists.
  bool finish(const std::function<bool(TxnId)>& counts, Budget& budget);
  // The number of lists added before finish.
  size_t added() const { return added_.size(); }
  OpId added(size_t i) const { return added_[i].op; }

  const std::vector<OpenList>& all() const { return lists_; }
  // Where a transaction reads: a list, and one of its reads.
  struct Place {
    uint32_t list, read;
  };
  std::span<const Place> reads_of(TxnId t) const;
  // Where a transaction appends: a list, and one of its blocks.
  struct BlockPlace {
    uint32_t list, block;
  };
  std::span<const BlockPlace> blocks_of(TxnId t) const;

 private:
  struct Added {
    OpId op;
    bool certain;
  };
  void index_appends();
  using Append = std::pair<KeyId, TxnId>;
  std::vector<OpenList::Block> blocks_of_key(std::span<const Append> appends, KeyId key,
                                             const std::function<bool(TxnId)>& counts) const;
  void start_list(OpId op, const std::function<bool(TxnId)>& counts, Budget& budget);
  void group_reads(const std::function<bool(TxnId)>& counts, Budget& budget);

  const History& h_;
  std::vector<Added> added_;
  std::vector<Append> appends_;          // sorted by key; of transactions that did not abort
  std::vector<Append> unknown_appends_;  // those of appends_ whose outcome is unknown
  bool indexed_ = false;
  uint64_t listed_ = 0;  // bytes of places since the budget was last asked
  std::vector<OpenList> lists_;
  std::unordered_map<TxnId, std::vector<Place>> reads_of_;
  std::unordered_map<TxnId, std::vector<BlockPlace>> blocks_of_;
};

// The lists that an order of transactions produces: how far each of them agrees with the list that
// was read.
class AppendedLists {
 public:
  explicit AppendedLists(const OpenLists& lists) : lists_(lists), appended_(lists.all().size()) {}

  // Appends what the transaction appends.
  void append(TxnId t);
  // Whether the read returned exactly the elements appended so far.
  bool shows(OpenLists::Place read) const {
    const Appended& appended = appended_[read.list];
    const OpenList& list = lists_.all()[read.list];
    const uint32_t length = list.reads[read.read].length;
    return appended.all == length && appended.as_read >= length && !list.lacks_own;
  }

 private:
  struct Appended {
    size_t all = 0, as_read = 0;  // number of elements; number of those that have the same place in
                                  // the list that was read
  };
  const OpenLists& lists_;
  std::vector<Appended> appended_;  // indexed by list
};

}  // namespace assay::internal
