// Parquet through DuckDB's library: it decodes columns, several at a time, and hands them over in
// chunks of a few thousand rows.
//
//   item     reads  seen   writes  written
//   BIGINT   BOOL   BIGINT BOOL    BIGINT      a column of integers holds numbers
//   VARCHAR  BOOL   …                          a column of texts holds the cells of the CSV
//
// Rows are taken in the order of the file, as long as those of each transaction follow each other
// and sessions go forward; this is how they are written. Where they do not, DuckDB sorts them
// first: by place, transactions of the same place as they come, as a CSV is read.
//
// Writing: the rows go to DuckDB as CSV through a pipe.
#include "formats/parquet.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>

#include "base/duckdb.h"
#include "base/ignored_pipe_signals.h"
#include "formats/facts.h"

namespace assay::internal::formats {
namespace {

enum class Type : uint8_t { integer, boolean, text };
constexpr std::array<std::string_view, 3> kTypeNames = {"BIGINT", "BOOLEAN", "VARCHAR"};

// The type that a column has; nullopt if it depends on its values.
std::optional<Type> type_of(FactColumn column) {
  switch (column) {
    case FactColumn::txn:
      return Type::text;
    case FactColumn::session_id:
    case FactColumn::item:
    case FactColumn::seen:
    case FactColumn::written:
    case FactColumn::expected:
    case FactColumn::instead:
      return std::nullopt;
    case FactColumn::unknown:
    case FactColumn::reads:
    case FactColumn::writes:
    case FactColumn::contradicts:
    case FactColumn::explained_outside:
      return Type::boolean;
    default:
      return Type::integer;
  }
}

std::string sql_text(std::string_view text) {
  std::string all = "'";
  for (const char c : text) all += c == '\'' ? "''" : std::string(1, c);
  return all + "'";
}

// A database in memory, which lasts as long as the object.
class DuckDb {
 public:
  DuckDb() = default;
  ~DuckDb() {
    if (connection_ != nullptr) duckdb_disconnect(&connection_);
    if (database_ != nullptr) duckdb_close(&database_);
  }
  DuckDb(const DuckDb&) = delete;
  DuckDb& operator=(const DuckDb&) = delete;

  Status open() {
    if (Status s = load_client(kLibduckdb); !s.ok()) return s;
    if (duckdb_open_ext(nullptr, &database_, nullptr, nullptr) != 0 ||
        duckdb_connect(database_, &connection_) != 0)
      return io_error("DuckDB cannot start");
    return Ok{};
  }

  // Runs one statement; take(result) looks at what it returned.
  template <class Take>
  Status run(const std::string& sql, Take take) {
    void* statement = nullptr;
    DuckdbResult result{};
    Status status = Ok{};
    if (duckdb_prepare(connection_, sql.c_str(), &statement) != 0)
      status = bad_input(first_line(duckdb_prepare_error(statement)));
    else if (duckdb_execute_prepared_streaming(statement, &result) != 0)
      status = bad_input(first_line(duckdb_result_error(&result)));
    else
      status = take(result);
    duckdb_destroy_result(&result);
    duckdb_destroy_prepare(&statement);
    return status;
  }
  Status run(const std::string& sql) {
    return run(sql, [](DuckdbResult&) { return Status(Ok{}); });
  }

 private:
  static std::string first_line(const char* text) {
    const std::string_view all = text == nullptr ? "DuckDB gives no reason" : text;
    return std::string(all.substr(0, all.find('\n')));
  }

  void* database_ = nullptr;
  void* connection_ = nullptr;
};

// A column of a chunk.
class Cells {
 public:
  Cells() = default;
  Cells(void* chunk, uint64_t column, Type type) : type_(type) {
    void* const vector = duckdb_data_chunk_get_vector(chunk, column);
    data_ = duckdb_vector_get_data(vector);
    valid_ = duckdb_vector_get_validity(vector);
  }

  bool has(uint64_t row) const {
    return data_ != nullptr && (valid_ == nullptr || (valid_[row / 64] >> (row % 64) & 1) != 0);
  }
  bool boolean(uint64_t row) const { return has(row) && static_cast<const uint8_t*>(data_)[row]; }
  int64_t integer(uint64_t row, int64_t otherwise) const {
    return has(row) ? static_cast<const int64_t*>(data_)[row] : otherwise;
  }
  std::string_view text(uint64_t row) const {
    if (!has(row)) return {};
    const Text& text = static_cast<const Text*>(data_)[row];
    return {text.length <= sizeof(text.here) ? text.here : text.elsewhere(), text.length};
  }
  bool value(uint64_t row, Value& to) const {
    if (type_ == Type::text || !has(row)) return read_cell(text(row), to);
    to.type = ValueView::Type::integer;
    to.integer = integer(row, 0);
    to.text.clear();
    return true;
  }

 private:
  // DuckDB's representation of a text. A long one is elsewhere: its place follows its first four
  // bytes.
  struct Text {
    uint32_t length;
    char here[12];

    const char* elsewhere() const {
      const char* place = nullptr;
      std::memcpy(&place, here + 4, sizeof(place));
      return place;
    }
  };

  const void* data_ = nullptr;  // null: the table lacks this column
  const uint64_t* valid_ = nullptr;
  Type type_ = Type::integer;
};

class ParquetReader {
 public:
  ParquetReader(int file, Budget* budget)
      : table_(fmt::format("read_parquet('/proc/self/fd/{}')", file)), budget_(budget) {}

  Result<History> read(unsigned threads) {
    if (Status s = db_.open(); !s.ok()) return s.error();
    // For sorting what does not fit.
    const std::string spill =
        std::filesystem::temp_directory_path() / fmt::format("assay-duckdb-{}", getpid());
    for (const std::string& setting :
         {fmt::format("SET threads = {}", threads), std::string("SET memory_limit = '1GB'"),
          "SET temp_directory = " + sql_text(spill)})
      if (Status s = db_.run(setting); !s.ok()) return s.error();
    if (Status s = look_at_columns(); !s.ok()) return s.error();
    FactsBuilder as_it_is(budget_);
    if (Status s = take_rows("", as_it_is); !s.ok()) return s.error();
    if (!scattered_) return std::move(as_it_is).finish();
    FactsBuilder sorted(budget_);
    if (Status s = take_rows(" ORDER BY place, min(row) OVER (PARTITION BY txn), row", sorted);
        !s.ok())
      return s.error();
    return std::move(sorted).finish();
  }

 private:
  Status look_at_columns() {
    constexpr int kTinyint = 2, kUinteger = 8;  // duckdb_type: the integers that 64 bits hold
    Status s = db_.run("FROM " + table_ + " LIMIT 0", [&](DuckdbResult& result) -> Status {
      for (uint64_t i = 0; i < duckdb_column_count(&result); ++i) {
        const std::string_view name = duckdb_column_name(&result, i);
        const int stored = duckdb_column_type(&result, i);
        const bool integer = stored >= kTinyint && stored <= kUinteger;
        for (size_t c = 0; c < kFactColumns; ++c)
          if (name == fact_column_name(static_cast<FactColumn>(c)))
            types_[c] =
                type_of(static_cast<FactColumn>(c)).value_or(integer ? Type::integer : Type::text);
      }
      return Ok{};
    });
    if (!s.ok()) return s;
    for (const FactColumn column : {FactColumn::txn, FactColumn::session_id, FactColumn::item})
      if (!types_[static_cast<size_t>(column)])
        return bad_input(
            "expected the columns txn, session_id, item, reads, seen, writes, written");
    return Ok{};
  }

  // Adds all rows in this order, or sets scattered_ at the first one that is out of order.
  Status take_rows(const std::string& order, FactsBuilder& builder) {
    std::string columns;
    std::vector<size_t> places;
    for (size_t c = 0; c < kFactColumns; ++c) {
      if (!types_[c]) continue;
      columns += fmt::format("{0}CAST({1} AS {2}) AS {1}", columns.empty() ? "" : ", ",
                             fact_column_name(static_cast<FactColumn>(c)),
                             kTypeNames[static_cast<size_t>(*types_[c])]);
      places.push_back(c);
    }
    const bool sorted = !order.empty();
    if (sorted && !types_[static_cast<size_t>(FactColumn::place)]) columns += ", 0 AS place";
    std::string query = fmt::format("SELECT {} FROM {}", columns, table_);
    if (sorted)
      query = fmt::format("SELECT * FROM (SELECT {}, row_number() OVER () AS row FROM {}){}",
                          columns, table_, order);
    return db_.run(query, [&](DuckdbResult& result) -> Status {
      uint64_t first = 1;
      while (void* chunk = duckdb_fetch_chunk(result)) {
        std::array<Cells, kFactColumns> cells;
        for (size_t i = 0; i < places.size(); ++i)
          cells[places[i]] = Cells(chunk, i, *types_[places[i]]);
        const uint64_t rows = duckdb_data_chunk_get_size(chunk);
        Status status = Ok{};
        for (uint64_t row = 0; row < rows && status.ok() && (sorted || !scattered_); ++row)
          status = take_row(cells, row, first + row, sorted, builder);
        duckdb_destroy_data_chunk(&chunk);
        first += rows;
        if (!status.ok() || (scattered_ && !sorted)) return status;
      }
      const char* error = duckdb_result_error(&result);
      return error == nullptr || *error == '\0' ? Status(Ok{}) : bad_input(error);
    });
  }

  Status take_row(const std::array<Cells, kFactColumns>& cells, uint64_t row, uint64_t number,
                  bool sorted, FactsBuilder& builder) {
    using enum FactColumn;
    const auto at = [&](FactColumn column) -> const Cells& {
      return cells[static_cast<size_t>(column)];
    };
    const auto time = [&](FactColumn column) {
      return at(column).integer(row, Interval::kUnknown);
    };
    const auto times = [&](FactColumn from, FactColumn to, Interval& when) {
      when = {time(from), time(to)};
      if (when.request == Interval::kUnknown) when.request = when.response;
      if (when.response == Interval::kUnknown) when.response = when.request;
      return when.request <= when.response;
    };
    fact_.txn = at(txn).text(row);
    if (fact_.txn.empty()) return bad_input("expected the name of a transaction", number);
    for (const auto& [column, to] : {std::pair{session_id, &fact_.session},
                                     {item, &fact_.item},
                                     {seen, &fact_.seen},
                                     {written, &fact_.written},
                                     {expected, &fact_.expected},
                                     {instead, &fact_.instead}})
      if (!at(column).value(row, *to))
        return bad_input("expected a JSON string, as the text begins with a quote", number);
    if (fact_.session.is_null()) return bad_input("expected a session", number);
    if (fact_.item.is_null()) return bad_input("expected a key", number);
    if (!times(began, began_by, fact_.begin) || !times(ended_from, ended, fact_.end))
      return bad_input("expected bounds of a time, the lower one first", number);
    fact_.place = at(place).integer(row, 0);
    fact_.unknown = at(unknown).boolean(row);
    fact_.reads = at(reads).boolean(row);
    fact_.writes = at(writes).boolean(row);
    fact_.contradicts = at(contradicts).boolean(row);
    if (!sorted && !order_.goes_on(fact_)) {
      scattered_ = true;
      return Ok{};
    }
    return builder.add(fact_, number);
  }

  const std::string table_;  // named by a descriptor, as a path could be a pattern
  Budget* budget_;
  DuckDb db_;
  std::array<std::optional<Type>, kFactColumns> types_;  // nullopt: the table lacks the column
  Fact fact_;
  FactsOrder order_;
  bool scattered_ = false;  // whether the file has rows out of order
};

// The types that the columns of a history get: one with only integers gets an integer type, which
// engines compare fast.
std::string columns_of(const History& h) {
  const auto widen = [](Type& type, const ValueView& v) {
    if (v.type != ValueView::Type::integer && !v.is_null()) type = Type::text;
  };
  Type session = Type::integer, item = Type::integer, value = Type::integer;
  for (SessionId s = 0; s < h.session_count(); ++s) widen(session, h.session_name(s));
  for (KeyId k = 0; k < h.key_count(); ++k) widen(item, h.key(k));
  for (VersionId v = 0; v < h.version_count(); ++v) widen(value, h.version_value(v));
  std::string all;
  for (size_t i = 0; i < kWholeFactColumns; ++i) {
    const auto column = static_cast<FactColumn>(i);
    const Type type = type_of(column).value_or(column == FactColumn::session_id ? session
                                               : column == FactColumn::item     ? item
                                                                                : value);
    all += fmt::format("{}'{}': '{}'", i == 0 ? "" : ", ", fact_column_name(column),
                       kTypeNames[static_cast<size_t>(type)]);
  }
  return all;
}

}  // namespace

Result<History> read_parquet(const std::string& path, Budget* budget, unsigned threads) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return io_error("Parquet is read from a file, and this is none", path);
  auto history = ParquetReader(file, budget).read(threads);
  close(file);
  if (history.ok()) return history;
  Error error = history.error();
  const std::string as_opened = fmt::format("/proc/self/fd/{}", file);
  if (const size_t at = error.message.find(as_opened); at != std::string::npos)
    error.message.replace(at, as_opened.size(), path);
  return error;
}

Result<std::vector<Loss>> write_parquet(const History& history, const std::string& path) {
  const IgnoredPipeSignals ignored;
  DuckDb db;
  if (Status s = db.open(); !s.ok()) return io_error(s.error().message, path);
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    return io_error(fmt::format("cannot make a pipe: {}", strerror(errno)));
  const std::string part = path + ".part";
  const std::string copy = fmt::format(
      "COPY (FROM read_csv('/proc/self/fd/{}', header = true, auto_detect = false, delim = ',', "
      "quote = '\"', escape = '\"', columns = {{{}}})) TO {} (FORMAT parquet, COMPRESSION zstd)",
      ends[0], columns_of(history), sql_text(part));
  Status copied = Ok{};
  std::thread copying([&] {
    copied = db.run(copy);
    close(ends[0]);  // what is still written then fails
  });
  auto losses = write_history(history, fmt::format("/proc/self/fd/{}", ends[1]), "facts");
  close(ends[1]);
  copying.join();
  if (!copied.ok()) losses = io_error(copied.error().message, path);
  if (losses.ok() && rename(part.c_str(), path.c_str()) != 0)
    losses = io_error(strerror(errno), path);
  if (!losses.ok()) unlink(part.c_str());
  return losses;
}

}  // namespace assay::internal::formats
