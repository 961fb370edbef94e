// SQLite: the sessions' own triggers write every change into a table, in the same transaction
// (collect/drivers/sqlite.cc). There is one writer at a time, so the rows of that table are in the
// order of the commits, and a killed process leaves in it exactly the committed transactions.
#include <fmt/format.h>
#include <sqlite3.h>

#include "evidence/log.h"
#include "evidence/rows.h"

namespace assay::internal::evidence {
namespace {

constexpr std::string_view kScheme = "sqlite:";

struct CloseSqlite {
  void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
};
struct Finalize {
  void operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
};

class SqliteLog : public Log {
 public:
  explicit SqliteLog(std::string path) : path_(std::move(path)) {}

  std::string source() const override { return "SQLite, by triggers"; }
  // The table is created with the others.
  Status start() override { return Ok{}; }
  Status resume(const std::string&) override { return Ok{}; }

  Result<LogEnd> read(const std::function<void(LoggedTxn)>& take) override {
    sqlite3* opened = nullptr;
    const int code = sqlite3_open_v2(path_.c_str(), &opened, SQLITE_OPEN_READWRITE, nullptr);
    const std::unique_ptr<sqlite3, CloseSqlite> db(opened);
    if (code != SQLITE_OK) return io_error(fmt::format("SQLite: {}", sqlite3_errstr(code)), path_);
    sqlite3_stmt* prepared = nullptr;
    sqlite3_prepare_v2(db.get(), "SELECT n, txn, source, k, v FROM assay_log ORDER BY n", -1,
                       &prepared, nullptr);
    const std::unique_ptr<sqlite3_stmt, Finalize> rows(prepared);
    LoggedTxn txn;
    int64_t last = 0;
    int step = SQLITE_ERROR;
    while (rows && (step = sqlite3_step(rows.get())) == SQLITE_ROW) {
      std::string name = text(rows.get(), 1);
      if (name != txn.name) take(std::exchange(txn, {}));
      txn.name = std::move(name);
      last = sqlite3_column_int64(rows.get(), 0);
      txn.position = std::to_string(last);
      add_row(rows.get(), txn.changes);
    }
    if (step != SQLITE_DONE)
      return io_error(fmt::format("SQLite: {}", sqlite3_errmsg(db.get())), path_);
    take(std::move(txn));
    return LogEnd{fmt::format("row {} of assay_log", last), ""};
  }

 private:
  static std::string text(sqlite3_stmt* row, int column) {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(row, column));
    const auto size = static_cast<size_t>(sqlite3_column_bytes(row, column));
    return bytes == nullptr ? std::string() : std::string(bytes, size);
  }

  static Value value(sqlite3_stmt* row, int column) {
    switch (sqlite3_column_type(row, column)) {
      case SQLITE_NULL:
        return {};
      case SQLITE_INTEGER:
        return Value::of(sqlite3_column_int64(row, column));
      default:
        return Value::of(text(row, column));
    }
  }

  // Keys and values are themselves in assay_kv, texts in all other tables.
  void add_row(sqlite3_stmt* row, std::vector<Change>& to) {
    const std::string source = text(row, 2);
    const size_t dot = source.find('.');
    const std::string table = source.substr(0, dot), column = source.substr(dot + 1);
    if (table == "assay_kv") {
      to.push_back({value(row, 3), value(row, 4)});
      return;
    }
    std::optional<std::string> cell;
    if (sqlite3_column_type(row, 4) != SQLITE_NULL) cell = text(row, 4);
    rows_.put(table, text(row, 3), {{column, std::move(cell)}}, to);
  }

  std::string path_;
  Rows rows_;
};

}  // namespace

Result<std::unique_ptr<Log>> open_sqlite_log(const collect::VersionLogOptions& options) {
  return std::unique_ptr<Log>(
      std::make_unique<SqliteLog>(options.urls.front().substr(kScheme.size())));
}

}  // namespace assay::internal::evidence
