// A history of what transactions did to rows of tables, however it was observed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/history.h"
#include "assay/result.h"
#include "base/json.h"
#include "history/condition.h"

namespace assay::internal::collect::schedule {

// The key of a row: "accounts:7", and "seats:3,12" if its key has two columns. A comma within one
// of several values is escaped.
std::string row_key(std::string_view table, const std::vector<std::string>& key);
// The table, and the columns of the key, in such a name; nullopt if it is not one.
struct RowName {
  std::string table;
  std::vector<std::string> key;
};
std::optional<RowName> row_name(const std::string& name);
// Instead of a row that was there before and was not seen.
inline constexpr std::string_view kUnseenRow = R"({"row":"from before"})";
// The value of a column, from JSON.
Cell cell_of(const Json& value);
// A statement as one line, cut off after this many bytes.
std::string in_one_line(std::string_view sql, size_t most);

struct RowOperation {
  enum class Kind : uint8_t { read, absent, write, remove, query };
  Kind kind = Kind::read;
  std::string key = {};
  std::string row = {};     // as JSON
  std::string source = {};  // the writer of what was read; empty: it was there before
  bool stated = false;      // whether the source is known
  // For a query: its table, its condition, and the keys and rows that it returned.
  std::string table = {}, where = {};
  std::vector<std::pair<std::string, std::string>> rows = {};
  Interval time = {};  // of the operation's statement
};

struct RowTxn {
  std::string session, name;
  TxnStatus status = TxnStatus::committed;
  Interval begin = {}, end = {};
  std::string meta = {};
  std::vector<RowOperation> ops = {};
  uint64_t line = 0;  // for messages, if lines are counted
};

// Turns operations on rows into those of a history, which live as long as this object and the
// transaction.
class RowOps {
 public:
  explicit RowOps(const RowTxn& txn);
  std::span<const Op> ops() const { return ops_; }

 private:
  std::vector<std::array<std::string, 2>> texts_;
  std::vector<std::vector<Op::Row>> rows_;
  std::vector<Op> ops_;
};

// Receives a history of rows, part by part: the initial rows and the orders may come at any time.
class RowSink {
 public:
  virtual ~RowSink() = default;
  virtual void initial(const std::string& key, const std::string& row) = 0;
  virtual Status add(const RowTxn& txn) = 0;
  // The transactions that installed the versions of a key, in their order: whatever each left, and
  // whether it is known to have removed the row.
  struct Version {
    std::string txn;
    bool removed = false;
  };
  virtual void order(const std::string& key, const std::vector<Version>& versions) = 0;
  // States that the orders hold everything that was installed until then.
  virtual void complete(int64_t at, const std::string& source) = 0;
  virtual void set_meta(const std::string& meta) = 0;

 protected:
  static std::string completion(int64_t at, const std::string& source);
};

// Builds a history in memory.
class RowHistory : public RowSink {
 public:
  void initial(const std::string& key, const std::string& row) override;
  void initial_of_all(const std::string& row) { builder_.set_initial(ValueView::row(row)); }
  Status add(const RowTxn& txn) override;
  void order(const std::string& key, const std::vector<Version>& versions) override;
  void complete(int64_t at, const std::string& source) override;
  void set_meta(const std::string& meta) override { builder_.set_meta(meta); }
  Result<History> finish() { return std::move(builder_).finish(); }

 private:
  HistoryBuilder builder_;
};

}  // namespace assay::internal::collect::schedule
