// From a trace to a history.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "assay/history.h"
#include "assay/result.h"
#include "collect/schedule/row_history.h"
#include "formats/input.h"

namespace assay::internal::record {

struct Joined {
  // Transactions of the clients, by what became of them, and how many of those of unknown outcome
  // the log has.
  uint64_t committed = 0, aborted = 0, unknown = 0, settled = 0;
  uint64_t foreign = 0;     // of others, from the log
  uint64_t unnumbered = 0;  // of the clients that are among those, as their numbers are not known
  std::map<std::string, uint64_t>
      isolations;  // of the clients' that changed something, as the server says
  // Statements on tables: recorded with all that they read, with some of it, and without; and why.
  uint64_t full = 0, partly = 0, unread = 0;
  std::map<std::string, uint64_t> missed;
  uint64_t reads = 0;         // of versions, that are in the history
  uint64_t unattributed = 0;  // not in the history: the writer is unknown
  bool log_ended = false;     // it was read to the end of the recording
};

// A listener to transactions as they are joined, while the trace may still grow.
class JoinListener {
 public:
  virtual ~JoinListener() = default;
  virtual Status joined(const collect::schedule::RowTxn& txn) = 0;
  // All transactions that had ended at some moment are joined.
  virtual Status joined_all() = 0;
};

// To the end of the trace. A truncated last line is ignored.
Result<Joined> join(formats::Input& trace, collect::schedule::RowSink& history,
                    JoinListener* listener = nullptr);

}  // namespace assay::internal::record
