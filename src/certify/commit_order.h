// A history as the axioms of the weak levels see it: transactions numbered by their place in a
// commit order, the versions that each installs, and the sources of its reads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/certificate.h"
#include "assay/history.h"
#include "assay/result.h"
#include "certify/writes.h"

namespace assay::internal::certify {

// The place of a transaction in the commit order, from 1. 0 is the initial state.
using Place = uint32_t;

// The writers of each key by their places in an order, ascending.
class PlacedWriters {
 public:
  PlacedWriters(const History& history, std::span<const TxnId> order);

  std::span<const Place> of(KeyId key) const { return writers_[key]; }
  // The number of writers at this place or before it.
  uint32_t up_to(KeyId key, Place place) const {
    const std::vector<Place>& all = writers_[key];
    return static_cast<uint32_t>(std::ranges::upper_bound(all, place) - all.begin());
  }
  // The last writer before this place; 0 if there is none.
  Place before(KeyId key, Place place) const {
    const uint32_t count = up_to(key, place - 1);
    return count == 0 ? 0 : writers_[key][count - 1];
  }

 private:
  std::vector<std::vector<Place>> writers_;
};

struct ReadFrom {
  KeyId key;
  Place from;
  OpId op;
};

// Whether the version of a key that a range saw without returning it must come before the range's
// transaction. At Adya's levels the range depends on the last transaction that changed the match; a
// version that did not change it may come later, if the source says so.
enum class NotReturned : uint8_t { before, anywhere };

class CommitOrder {
 public:
  // Assumes that every read is from the last transaction before it in the order that installs the
  // version it returned, or from the initial state. The same holds for each key of a range, the row
  // or its absence; with a condition, a key that is not returned is read from its last writer, if
  // the row that this one left does not satisfy the condition. Fails if there is no such
  // transaction, or if a read after the transaction's own write of the key does not return that
  // write. A list that was read must consist of the appends of whole transactions in this order.
  // The sources of conditional writes without effect must be given. `sources`, sorted, replaces
  // these sources, if each precedes its reader in the order and explains the read.
  static Result<CommitOrder> build(const Writes& writes, std::span<const TxnId> order,
                                   std::span<const Seen> sources = {},
                                   NotReturned not_returned = NotReturned::before);

  Place count() const { return static_cast<Place>(txn_.size() - 1); }
  TxnId txn(Place p) const { return txn_[p]; }
  std::span<const TxnId> txns() const { return std::span(txn_).subspan(1); }
  // The place of a transaction; kNone if it is not in the order.
  Place place(TxnId t) const { return place_[t]; }
  // The reads of the transaction at this place from others, in program order.
  std::span<const ReadFrom> reads(Place p) const {
    return {reads_.data() + read_begin_[p], reads_.data() + read_begin_[p + 1]};
  }
  // The keys that the transaction at this place installs, ascending.
  std::span<const KeyId> keys_written(Place p) const {
    return {writes_.data() + write_begin_[p], writes_.data() + write_begin_[p + 1]};
  }

 private:
  class Builder;
  CommitOrder() = default;

  std::vector<TxnId> txn_;
  std::vector<Place> place_;
  std::vector<ReadFrom> reads_;
  std::vector<KeyId> writes_;
  std::vector<size_t> read_begin_, write_begin_;  // indexed by place
};

}  // namespace assay::internal::certify
