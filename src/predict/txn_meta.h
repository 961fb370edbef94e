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
  Json values;        // values of $1, $2, …: texts, null, and false if that was not recorded
  int64_t sent = 0;   // its operations are those that were sent at this time
  std::string place;  // its place in the application's code; may be empty
};

struct TxnMeta {
  std::string program;   // empty: the history does not say what ran
  bool defines = false;  // whether it made or changed tables
  // Tables with reads, and with possible changes, that are not among its operations; "*": any
  // table. `why`: the reasons in words.
  std::vector<std::string> reads, changes, why;
  std::vector<SentStatement> statements;
  std::string isolation;  // the isolation at which it ran, in the database's words

  bool is_whole() const { return reads.empty() && changes.empty(); }
};

TxnMeta meta_of(std::string_view meta);
// The statement that was sent at that moment; null if none is known.
const SentStatement* statement_at(const TxnMeta& meta, Interval sent);

}  // namespace assay::internal::predict
