// Reads lines of `assay` JSON Lines that have the usual shape without a JSON parser.
//
//   {"session":1,"txn":"1-0","status":"committed","begin":7,"end":[8,9],"ops":[["r","x",null],["w","y",2]]}
//
// The fields come in any order, "ops" last. One blank may follow a comma or a colon. Operations are
// reads (of lists, too), writes and appends of integers and of ASCII strings without escapes. Any
// other line goes to the parser (assay_jsonl_read.cc), which also reports its faults: the scan
// never reports an error.
#pragma once

#include <string_view>
#include <vector>

#include "assay/history.h"

namespace assay::internal::formats {

class LineScan {
 public:
  // Reads the fields before the operations of a line. False if the line has another shape. `line`
  // must be followed by a line end and at least Input::kPadding readable bytes. `to` refers to it.
  bool header(std::string_view line, TxnHeader& to);
  // Reads the operations of the same line into the transaction that has begun; the caller then ends
  // it. False if they have another shape; the operations added so far are dropped when a
  // transaction begins.
  bool operations(TxnBatch& to);

 private:
  bool field(TxnHeader& to);
  bool operation(TxnBatch& to);
  bool list(const ValueView& key, TxnBatch& to);
  bool status(TxnHeader& to);
  bool time(Interval& to);
  bool value(ValueView& to);
  bool text(std::string_view& to);
  bool integer(int64_t& to);
  bool take(std::string_view word);
  bool separator(char c);  // and a blank that may follow

  const char* at_ = nullptr;
  const char* end_ = nullptr;
  uint32_t seen_ = 0;  // a bit for each field of the header that has been read
  std::vector<ValueView> elements_;
};

}  // namespace assay::internal::formats
