// Records as lines of the assay JSON Lines format. Bytes: docs/formats/assay.md.
#pragma once

#include <string>
#include <string_view>

#include "collect/step.h"

namespace assay::internal::collect {

// What the header says about the lines that follow.
struct HistoryFacts {
  bool names_versions = false;           // whether orders of versions name transactions
  bool absent_is_never_written = false;  // as in assay::History
  bool has_rows = false;                 // whether values are rows
  bool has_conditions = false;           // whether queries have conditions
  bool has_aggregates = false;           // and whether some return aggregates
  bool has_sources = false;              // whether reads state whose write they returned
  bool has_initial = false;              // whether keys have initial values of their own
};

// Each function appends one line with its newline.
void append_header_line(std::string& out, std::string_view meta, HistoryFacts facts = {});
// The "meta" of a transaction's line; empty if there is none.
std::string meta_of(const TxnRecord& record);
void append_record_line(std::string& out, const TxnRecord& record);
void append_event_line(std::string& out, std::string_view json);
void append_order_line(std::string& out, const OrderRecord& record);

}  // namespace assay::internal::collect
