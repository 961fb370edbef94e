// Shared by the two writers of `assay` JSON Lines: that of histories (assay_jsonl.cc) and that of
// runs, as they happen (collect/lines.cc).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "assay/history.h"

namespace assay::internal::formats {

// Appends `["r","x",1]`. Returns how many of its bytes were not UTF-8 and have been replaced.
size_t append_op(std::string& line, const Op& op);
// "committed", …
std::string_view status_name(TxnStatus status);

void append_integer(std::string& line, int64_t value);
size_t append_value(std::string& line, const ValueView& value);
// Appends `,"begin":7`, `,"begin":[7,9]` or `,"begin":[7,null]`; nothing if the time is not known.
void append_time(std::string& line, std::string_view name, const Interval& time);
// Appends `7`, `[7,9]` or `[7,null]`.
void append_interval(std::string& line, const Interval& known);
// The same for a timestamp.
void append_timestamp(std::string& line, std::string_view name, int64_t timestamp);
// Appends a transaction's line up to its operations, which follow as `"r","x",1],…]`. Returns the
// same as append_op.
size_t append_txn_head(std::string& line, const TxnHeader& header);
// Appends `,"op_times":[7,null]`; nothing if none is known.
void append_op_times(std::string& line, std::span<const Interval> times);

}  // namespace assay::internal::formats
