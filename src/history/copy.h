// Copies transactions of one history, whole or in part, into the builder of another.
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "assay/history.h"
#include "assay/result.h"

namespace assay::internal {

class TxnCopier {
 public:
  explicit TxnCopier(HistoryBuilder& to) : to_(to) {}

  // Copies session, name, outcome, metadata, line and, if wanted, times; the operations follow,
  // then the builder's end_txn.
  void begin(const History& h, TxnId t, bool with_times = true);
  // The same with these times instead of the transaction's.
  void begin_at(const History& h, TxnId t, const Interval& begin, const Interval& end);
  // Copies the operation unchanged.
  void operation(const History& h, OpId op);
  // Copies the operation as one of `kind`, with these elements if it is a list, and with or without
  // the source that is stated for it.
  void operation(const History& h, OpId op, OpKind kind, std::span<const VersionId> elements,
                 bool with_source = true);
  // Copies the range `op` with these bounds.
  void range(const History& h, OpId op, KeyId lo, KeyId hi, const Selected& selected);
  // Copies a read of a list, with these elements.
  void list(const History& h, OpId op, std::span<const VersionId> elements) {
    operation(h, op, OpKind::read_list, elements);
  }
  // Copies only the write of an operation that also observed something.
  void write_alone(const History& h, OpId op) { operation(h, op, OpKind::write, {}); }

 private:
  HistoryBuilder& to_;
  std::string name_;  // the name of the transaction under way
  OpBuffers buffers_;
};

// Copies the initial values.
void copy_initial(const History& h, HistoryBuilder& to);
// Copies the initial values, and whether a deletion leaves a tombstone as a value.
void copy_settings(const History& h, HistoryBuilder& to);

// A history of these transactions alone, in this order, unchanged; without events and stated
// orders.
Result<History> copy_of(const History& h, std::span<const TxnId> txns);

// The transactions of unknown outcome, in their order, as a history: a caller that needs these for
// longer than the others need not keep the whole history.
Result<std::shared_ptr<const History>> unknown_outcomes_of(const History& h);

// Copies entries of stated orders.
class OrderCopier {
 public:
  // The entries of the order; valid until the next call.
  std::span<const StatedVersion> of(const History& h, const KnownOrder& order);
  // The same without the entries whose place in `keep` is false.
  std::span<const StatedVersion> of(const History& h, const KnownOrder& order,
                                    const std::vector<bool>& keep);

 private:
  std::deque<std::string> names_;
  std::vector<StatedVersion> entries_;
};

}  // namespace assay::internal
