// The joined recording as a history that can be watched.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "assay/history.h"
#include "record/join.h"

namespace assay::internal::record {

class Watchable : public JoinListener {
 public:
  using Take = std::function<Status(const std::shared_ptr<const History>&)>;
  explicit Watchable(Take take) : take_(std::move(take)) { begin_piece(); }

  Status joined(const collect::schedule::RowTxn& txn) override;
  Status joined_all() override;

 private:
  void begin_piece();

  Take take_;
  std::unique_ptr<collect::schedule::RowHistory> piece_;
  uint64_t joined_ = 0;  // transactions
  bool any_ = false;     // in the piece
};

}  // namespace assay::internal::record
