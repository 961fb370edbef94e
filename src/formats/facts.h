// A history as a table for SQL: one row for each transaction and key. Every byte:
// docs/formats/facts.md.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "formats/csv_line.h"
#include "formats/owned_op.h"
#include "formats/registry.h"

namespace assay::internal::formats {

// In the order in which they are written. The last four are only in what a query cut out
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
inline constexpr size_t kWholeFactColumns = 19;  // the first ones, of a whole history
std::string_view fact_column_name(FactColumn column);

// What a transaction did to a key, as far as others can tell.
struct Fact {
  std::string txn;
  Value session;
  int64_t place = 0;  // of the transaction in its session
  bool unknown = false;
  Interval begin{}, end{};  // when; no end if the outcome is unknown
  // Where a proposed order has the transaction: as one event, and as two.
  int64_t serial_at = Interval::kUnknown;
  int64_t snapshot_at = Interval::kUnknown;
  int64_t commit_at = Interval::kUnknown;
  Value item;
  bool reads = false;  // something that it had not written itself; null: the key was absent
  Value seen;
  bool writes = false;
  Value written;  // last; null: a deletion
  // It saw something else of the key than its own write, or its own read, before.
  bool contradicts = false;
  Value expected, instead;
  int64_t window = 0;
  int64_t window_from = Interval::kUnknown, window_to = Interval::kUnknown;  // places in the order
  bool explained_outside =
      false;  // a possible writer of the value that was read is not in the table
};

// Rows one by one, in any order, columns in any order; a column that is not there has its default,
// but for txn, session_id and item.
class FactsReader {
 public:
  explicit FactsReader(Input& input) : input_(input) {}

  // False at the end.
  Result<bool> next(Fact& fact);
  // The number of the line of the row read last.
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

// All of them, and the numbers of their lines.
struct FactRows {
  std::vector<Fact> facts;
  std::vector<uint64_t> lines;
};
Result<FactRows> read_rows(Input& input);

// What names the deletion that the fact is, where a value is needed.
std::string tombstone_of(const Fact& fact);
// That it wrote the value, or deleted the item where that is null.
Op write_of(const Fact& fact, const Value& value, const std::string& tombstone);

// The history that these rows are of, whose line numbers are in `lines`.
Result<History> history_of_facts(std::vector<Fact> facts, std::vector<uint64_t> lines,
                                 Budget* budget);

}  // namespace assay::internal::formats
