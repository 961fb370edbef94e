// A history as a table for SQL: one row for each transaction and key. Every byte:
// docs/formats/facts.md.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "formats/csv_line.h"
#include "formats/owned_op.h"
#include "formats/registry.h"

namespace assay::internal::formats {

// In the order in which they are written. The last four occur only in tables that a query cut out
// (docs/lake.md).
enum class FactColumn : uint8_t {
  txn,
  session_id,
  place,
  unknown,
  began,
  began_by,
  ended_from,
  ended,
  serial_at,
  snapshot_at,
  commit_at,
  item,
  reads,
  seen,
  writes,
  written,
  contradicts,
  expected,
  instead,
  window_id,
  window_from,
  window_to,
  explained_outside,
};
inline constexpr size_t kFactColumns = 23;
inline constexpr size_t kWholeFactColumns = 19;  // the first columns, those of a whole history
std::string_view fact_column_name(FactColumn column);

// What a transaction did to a key, as far as others can tell.
struct Fact {
  std::string txn;
  Value session;
  int64_t place = 0;  // place of the transaction in its session
  bool unknown = false;
  Interval begin{}, end{};  // no end if the outcome is unknown
  // The transaction's places in a proposed order, as one event and as two.
  int64_t serial_at = Interval::kUnknown;
  int64_t snapshot_at = Interval::kUnknown;
  int64_t commit_at = Interval::kUnknown;
  Value item;
  bool reads = false;  // whether it reads what others wrote; null in `seen`: the key was absent
  Value seen;
  bool writes = false;
  Value written;  // last value written; null: a deletion
  // Whether it saw something else of the key than its own write, or its own read, before.
  bool contradicts = false;
  Value expected, instead;
  int64_t window = 0;
  int64_t window_from = Interval::kUnknown, window_to = Interval::kUnknown;  // places in the
                                                                             // proposed order
  bool explained_outside =
      false;  // whether a possible writer of the value that was read is missing from the table
};

// Reads rows one by one, with rows and columns in any order; a missing column has its default,
// except for txn, session_id and item.
class FactsReader {
 public:
  explicit FactsReader(Input& input) : input_(input) {}

  // Reads the next row; false at the end.
  Result<bool> next(Fact& fact);
  // The line number of the row read last.
  uint64_t line() const { return input_.line(); }
  // An error at a column of the row read last.
  Error error(FactColumn column, std::string message) const;

 private:
  bool read_header(TextCursor& c);
  bool read_row(TextCursor& c, Fact& fact);
  bool read_value(TextCursor& c, FactColumn column, Value& to);
  bool read_integer(TextCursor& c, FactColumn column, int64_t& to);
  bool read_times(TextCursor& c, FactColumn from, FactColumn to, Interval& when);
  bool read_bool(TextCursor& c, FactColumn column, bool& to);
  const CsvField* field(FactColumn column) const;
  bool fail(TextCursor& c, FactColumn column, std::string message) const;

  Input& input_;
  bool started_ = false;
  std::array<size_t, kFactColumns> places_{};
  std::vector<CsvField> fields_;
};

// All rows, and their line numbers.
struct FactRows {
  std::vector<Fact> facts;
  std::vector<uint64_t> lines;
};
Result<FactRows> read_rows(Input& input);

// The tombstone of the deletion that the fact is, for formats that need a value.
std::string tombstone_of(const Fact& fact);
// The operation that wrote the value or, if that is null, deleted the item.
Op write_of(const Fact& fact, const Value& value, const std::string& tombstone);

// What a cell means: an integer, a text, or a text as a JSON string; null if it is empty. False if
// it begins like a JSON string and is none.
bool read_cell(std::string_view cell, Value& to);

// Whether rows are in an order that can stay: those of a transaction follow each other, and each
// session goes forward.
class FactsOrder {
 public:
  // Of the next row. False too if the names of two transactions have the same hash, which costs
  // only the sorting.
  bool goes_on(const Fact& fact);

 private:
  std::string current_;                                     // the transaction of the last row
  std::unordered_set<uint64_t> known_;                      // hashes of the names so far
  std::unordered_map<Value, int64_t, KeyHash> last_place_;  // by session
};

// Makes a history of rows as they come: those of a transaction follow each other, and transactions
// of a session are in the order of their places.
class FactsBuilder {
 public:
  explicit FactsBuilder(Budget* budget) { builder_.limit(budget); }
  // Exchanges the row for one that is not needed any more, so that its texts need no memory of
  // their own. `line`: of the row, for messages.
  Status add(Fact& fact, uint64_t line);
  Result<History> finish() &&;

 private:
  Status end_txn();
  Status check_items();

  HistoryBuilder builder_;
  std::vector<Fact> rows_;  // the first count_ are those of the current transaction
  std::vector<uint64_t> lines_;
  size_t count_ = 0;
  std::vector<size_t> by_item_;
};

// Makes the history of these rows, whose line numbers are in `lines`. Rows that are not in an order
// are sorted by place, transactions of the same place as they come.
Result<History> history_of_facts(std::vector<Fact> facts, const std::vector<uint64_t>& lines,
                                 Budget* budget);

}  // namespace assay::internal::formats
