// What the drivers of SQL databases share: where the value of a key is stored, and the statements
// for each kind of operation.
//
// A key of the workload's tables, "table:row:column", is a cell of a real table; every other key a
// row of assay_kv, its lists a row of assay_list.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collect/drivers/text_values.h"
#include "collect/run_id.h"
#include "collect/schema.h"
#include "collect/step.h"

namespace assay::internal::collect {

// How the database expresses "insert, or update if it is there".
enum class Upsert : uint8_t { on_conflict, on_duplicate_key, merge };

// A statement and the texts for its parameters $1, $2, …
struct SqlCall {
  std::string_view sql;  // lives as long as the statements
  std::vector<std::string> parameters;
};

class SqlStatements {
 public:
  // `returning` is appended to statements that change something; empty: nothing is.
  SqlStatements(Upsert upsert, std::span<const Table> tables, std::string_view returning = {});
  // The statement for a request; empty if there is none (insert and compare-with-null of a cell).
  SqlCall of(const Request& request) const;
  bool is_cell(const Value& key) const;
  // For Upsert::merge, which cannot append in one statement: the insert to send when the statement
  // of an append changed no row.
  SqlCall first_element(const Request& request) const;

  // The statements that DROP and CREATE every table. `text` is the type of values and `key` that of
  // primary keys.
  std::vector<std::string> schema(std::string_view key, std::string_view text) const;

 private:
  // The statements of one column.
  struct Column {
    std::string table, name;
    std::string read, write, insert, cas, remove, range, query, append;
  };
  Column make_column(std::string table, std::string name) const;
  const Column& column_of(const Value& key, std::string& row) const;

  void ask_back(Column& c) const;

  Upsert upsert_;
  std::string returning_;
  std::vector<Column> columns_;  // for keys and values, for lists, then for the cells
  std::vector<Table> tables_;
};

// The answer to a request, from the statement's rows and from how many it changed. A list is one
// cell.
using TextRows = std::vector<std::vector<std::optional<std::string>>>;
void take_reply(const Request& request, const TextRows& rows, uint64_t changed, Reply& reply);

// The table that holds the mark of the run that prepared the others: creating it, noting that the
// run has finished unless another one has prepared the tables since, and reading it.
std::vector<std::string> run_table(const RunMark& mark);
std::string finish_statement(RunMark mark);
inline constexpr const char* kRunQuestion = "SELECT id FROM assay_run";

}  // namespace assay::internal::collect
