// Transactions of one history, whole or in part, into the builder of another.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/history.h"

namespace assay::internal {

class TxnCopier {
 public:
  explicit TxnCopier(HistoryBuilder& to) : to_(to) {}

  // Session, name, outcome, times, metadata and line; the operations follow, then the builder's end_txn.
  void begin(const History& h, TxnId t);
  // As it stands.
  void operation(const History& h, OpId op);
  // The operation as one of `kind`, with these elements or rows if it has any, and as a range between these bounds.
  void operation(const History& h, OpId op, OpKind kind, std::span<const VersionId> versions,
                 KeyId lo = kNone, KeyId hi = kNone);

 private:
  HistoryBuilder& to_;
  std::string name_;  // of the transaction under way
  std::vector<ValueView> elements_;
  std::vector<std::pair<ValueView, ValueView>> rows_;
};

}  // namespace assay::internal
