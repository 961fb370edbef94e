// What an application did, operation by operation: each row names its session, transaction,
// operation, key, value, time and status, as far as the source states them. Tables (csv.cc) and
// JSON (json_trace.cc) are read through it.
//
// Rows of a transaction need not be neighbours. A transaction runs from its smallest time to its
// largest; if any row of the source is a commit or abort, a transaction that has neither, and no
// status, is of unknown outcome, otherwise it committed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/history.h"
#include "formats/gathered_txns.h"
#include "formats/streamed_builder.h"
#include "history/value_numbers.h"

namespace assay::internal::formats {

enum class TraceColumn : uint8_t { session, txn, op, key, value, time, status };
inline constexpr size_t kTraceColumns = 7;

// The column with that name, in upper or lower case.
std::optional<TraceColumn> trace_column(std::string_view name);

struct TraceField {
  bool present = false;
  bool list = false;  // the value is `elements`
  ValueView value{};
  std::span<const ValueView> elements{};
};

struct TraceRow {
  std::array<TraceField, kTraceColumns> fields;
  std::optional<int64_t> end;  // when the operation ended, if given in addition to `time`
  bool failed = false;         // the operation failed: the result of its read is not known

  TraceField& at(TraceColumn c) { return fields[static_cast<size_t>(c)]; }
  const TraceField& at(TraceColumn c) const { return fields[static_cast<size_t>(c)]; }
};

class TraceHistory {
 public:
  struct Fault {
    TraceColumn column = TraceColumn::session;
    std::string message;
  };
  // `budget` and `threads` as for StreamedBuilder.
  TraceHistory(Budget* budget, unsigned threads) : budget_(budget), threads_(threads) {}

  // Adds a row, whose views need to live for the call only. False at a fault, which is then in
  // fault().
  bool add(const TraceRow& row, uint64_t line);
  const Fault& fault() const { return fault_; }
  Result<History> finish() &&;

 private:
  // A value that is held back, with its text in `texts_`.
  struct Held {
    int64_t integer = 0;  // or the offset at which the text begins
    uint32_t length = 0;  // length of the text
    ValueView::Type type = ValueView::Type::null;
  };
  struct HeldOp {
    OpKind kind = OpKind::read;
    Held key;
    Held value;  // for a list that was read: `length` of elements_, from `integer` on
  };
  struct Outcome {
    Interval begin, end;
    std::optional<TxnStatus> status;
    Held name;  // always a text
  };

  bool fail(TraceColumn column, std::string message);
  uint32_t txn_of(const TraceRow& row, uint64_t line);
  bool read_time(const TraceRow& row, Outcome& to);
  bool read_status(const TraceRow& row, Outcome& to);
  bool read_op(const TraceRow& row, uint32_t txn);
  Held held(const ValueView& v);
  ValueView view(const Held& h) const;
  Status build_txn(StreamedBuilder& builder, uint32_t t, const GatheredTxns<HeldOp>::Txn& txn,
                   std::span<const HeldOp* const> ops) const;

  GatheredTxns<HeldOp> gathered_;
  std::string texts_;           // of the operations that are held back
  std::vector<Held> elements_;  // elements of lists
  std::vector<Outcome> outcomes_;
  std::vector<Held> sessions_;  // their names, by number
  ValueNumbers session_numbers_;
  ValueNumbers txn_numbers_;
  int64_t unnamed_ = 0;
  bool ends_told_ = false;
  Budget* budget_;
  unsigned threads_;
  Fault fault_;
};

}  // namespace assay::internal::formats
