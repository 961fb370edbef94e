// The meta of a recorded transaction (docs/formats/assay.md#what-a-transaction-ran).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/history.h"
#include "base/json.h"

namespace assay::internal::predict {

// A statement as the application sent it.
struct SentStatement {
  std::string text;
  Json values;        // of $1, $2, …: texts, null, and false where that was not recorded
  int64_t sent = 0;   // the operations that were sent then are its
  std::string place;  // in the application's code; may be empty
};

struct TxnMeta {
  std::string program;   // empty: nothing says what ran
  bool defines = false;  // it made or changed tables
  // Tables with reads, and possible changes, that are not among its operations; "*": any table.
  // `why`: in words.
  std::vector<std::string> reads, changes, why;
  std::vector<SentStatement> statements;
  std::string isolation;  // that it ran at, as the database says it

  bool is_whole() const { return reads.empty() && changes.empty(); }
};

TxnMeta meta_of(std::string_view meta);
// Null if no statement is known to have been sent at that moment.
const SentStatement* statement_at(const TxnMeta& meta, Interval sent);

}  // namespace assay::internal::predict
