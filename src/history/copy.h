// Transactions of one history, whole or in part, into the builder of another.
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

  // Session, name, outcome, times unless they are not wanted, metadata and line; the operations
  // follow, then the builder's end_txn.
  void begin(const History& h, TxnId t, bool with_times = true);
  // With these times instead of the transaction's.
  void begin_at(const History& h, TxnId t, const Interval& begin, const Interval& end);
  // Unchanged.
  void operation(const History& h, OpId op);
  // The operation as one of `kind`, with these elements if it is a list, and with the source that
  // is stated for it, or without.
  void operation(const History& h, OpId op, OpKind kind, std::span<const VersionId> elements,
                 bool with_source = true);
  // The range `op` as one between these bounds.
  void range(const History& h, OpId op, KeyId lo, KeyId hi, const Selected& selected);
  // The list that it read, with these elements.
  void list(const History& h, OpId op, std::span<const VersionId> elements) {
    operation(h, op, OpKind::read_list, elements);
  }
  // Only the write of an operation that also observed something.
  void write_alone(const History& h, OpId op) { operation(h, op, OpKind::write, {}); }

 private:
  HistoryBuilder& to_;
  std::string name_;  // of the transaction under way
  OpBuffers buffers_;
};

// What keys hold before anything is written.
void copy_initial(const History& h, HistoryBuilder& to);
// That, and what a deletion leaves behind.
void copy_settings(const History& h, HistoryBuilder& to);

// These transactions alone, in this order, unchanged; without events and stated orders.
Result<History> copy_of(const History& h, std::span<const TxnId> txns);

// The transactions of unknown outcome, in their order. A caller that keeps them longer than the
// others need not keep the whole history.
Result<std::shared_ptr<const History>> unknown_outcomes_of(const History& h);

// Entries of stated orders.
class OrderCopier {
 public:
  // Valid until the next call.
  std::span<const StatedVersion> of(const History& h, const KnownOrder& order);
  // Without those whose place in `keep` is false.
  std::span<const StatedVersion> of(const History& h, const KnownOrder& order,
                                    const std::vector<bool>& keep);

 private:
  std::deque<std::string> names_;
  std::vector<StatedVersion> entries_;
};

}  // namespace assay::internal
