// What a trace says, in order.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/history.h"
#include "assay/result.h"
#include "base/json.h"
#include "record/catalogue.h"
#include "record/rewriting.h"

namespace assay::internal::record {

// A version of a row, by the 32 bits of its writer's number that a row has.
struct SeenVersion {
  std::string key;
  uint32_t writer = 0;
};

struct Statement {
  std::string kind, sql, missed, changed, isolation, session_isolation, place, locks;
  bool reads = false, writes = false, aggregated = false, depends = false, tells = false,
       keyed = false, fires = false;
  std::vector<std::string> tables;  // as rewriting.h has it
  std::vector<size_t> cells;        // of its relations
  std::string table;                // the only one of them
  Json where;                       // in pieces, as rewriting.h has it
};

struct SeenStatement {
  std::shared_ptr<const Statement> of;
  uint64_t rows = 0;  // as its tag counts them
  bool failed = false;
  bool too_large = false;  // its reads were too large to be recorded
  Interval time;           // sent, answered; no two of a transaction are sent at the same moment
  Json values;             // of the client, as texts; false: not taken down
  std::vector<SeenVersion> read;
  // These are all rows of the table that satisfy this condition; nothing where that is not known.
  std::optional<std::string> where;
  std::string table;
};

// The how many-eth of its connection, from 1; 0: none.
struct ClientTxn {
  uint64_t session = 0, nth = 0;
  std::string name() const;
  auto operator<=>(const ClientTxn&) const = default;
};

struct SeenTxn {
  ClientTxn id;
  std::string application;
  TxnStatus status = TxnStatus::aborted;
  Interval begin = {}, end = {};
  int64_t over = Interval::kOpen;  // when that was seen
  std::string isolation;
  std::optional<uint32_t> number;
  bool may_have_number = false;  // that was not asked for
  bool wrote = false;            // perhaps
  bool undoes = false;           // some of it, by ROLLBACK TO
  // Not 0: what the transaction `id` read by a cursor WITH HOLD, the how many-eth time that the
  // client fetched from it since.
  uint64_t held = 0;
  std::vector<SeenStatement> statements;

  std::string name() const;
};

// A change of a row that the log has.
struct LoggedChange {
  enum class Kind : uint8_t { insert, update, remove, truncate };
  Kind kind = Kind::insert;
  std::string table;         // as the history calls it
  std::string key, old_key;  // old_key: if it is another
  std::string row;           // JSON
};
struct LoggedChanges {
  uint32_t number = 0;
  std::vector<LoggedChange> changes;
  std::vector<uint32_t> below = {};  // numbers of its savepoints
};

// Everything committed at one moment is in the log up to here; from another moment on it is visible
// to all, except for transactions still going on.
struct LogPoint {
  int64_t at = 0, seen = 0;
  size_t logged = 0;  // transactions of the log that were read by then
  uint32_t next = 0;  // number
  std::set<uint32_t> going_on = {};
};

struct Seen {
  Json header;
  // Until they are taken from here.
  std::deque<SeenTxn> txns;
  std::deque<LoggedChanges> log;
  std::deque<LogPoint> points;
  int64_t answered = Interval::kUnknown;  // what commits and was sent before has been answered
  // Rows that were there at first, by key: the writer's number, and what they hold.
  std::map<std::string, std::pair<uint32_t, std::string>> first_rows;
  std::set<std::string> anew;  // tables that were written anew, or made again
  std::optional<int64_t> end;  // to which the log was read

  uint32_t bound() const { return static_cast<uint32_t>(header["bound"].integer()); }
};

class TraceReader {
 public:
  TraceReader();
  ~TraceReader();
  Status take(const Json& line);
  // No line follows: of connections that are still open nothing more is known.
  void finish();
  Seen& seen();
  // When the first was sent that belongs to a transaction which has not ended; kUnknown if the
  // trace does not say.
  int64_t open_since() const;

 private:
  class Cut;
  std::unique_ptr<Cut> cut_;
};

}  // namespace assay::internal::record
