// The statements of a file in the SQL of one database, and the operations recorded for them.
//
// Each table has two more columns: the name of the version of the row, which its writer gives it,
// and the name of the version that this one replaced. A row is recorded with the former, so every
// reader of it names its writer. An UPDATE writes both and returns the latter: this is the version
// that it saw, which is recorded as read.
//
//   SELECT … WHERE id = 5              ["r","stock:5",{…}]; null if there is no such row
//   SELECT … WHERE number < 3          ["pred","number < 3",[["stock:5",{…}],…],
//                                      {"keys":["stock:","stock;"]}]
//   SELECT count(*) … WHERE number < 3 the same, with the rows that were counted: the statement
//                                      asks for them too
//   … WITHOUT ROWS                     ["agg","number < 3",{"count":2,"keys":["stock:","stock;"]}]
//   UPDATE … WHERE number < 3          the same with the rows before, then ["w","stock:5",{…}] for
//                                      each
//   DELETE … WHERE number < 3          the same, then ["d","stock:5","3-17.2"]
//   INSERT …                           ["insert","stock:5",{…},true]
//
// An aggregate that differs from that of its rows is recorded in addition to them, for the check to
// judge.
//
// A statement says only that the rows which it returned satisfied its condition ("found") if others
// may have satisfied it, too: with LIMIT and SKIP LOCKED, and if the database looks again at the
// rows that it locks. If the version that an UPDATE replaced is no longer known, only its key is
// recorded ("matched").
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/result.h"
#include "collect/sql/dialect.h"
#include "collect/sql/file.h"
#include "collect/sql/statement.h"
#include "collect/sql/versions.h"

namespace assay::internal::collect::sql {

// The text of a statement, and what its parameters $1, $2, … are.
struct Text {
  std::string sql;
  std::vector<Expression> parameters;
};

class Prepared {
 public:
  // Refuses statements about which the database does not tell enough; the error has the statement's
  // place. `file` must outlive the result.
  static Result<Prepared> make(const File& file, const Statement& statement, const Dialect& dialect,
                               std::string transaction);

  CallResult perform(const std::vector<Value>& parameters, Versions& versions,
                     DriverSession& session, const std::string& version, std::vector<Step>& steps,
                     Reply& reply) const;
  std::string sql(const std::vector<Value>& parameters, const std::string& version) const;
  std::string_view locks() const;
  std::string in_words() const;
  const Text& text() const { return text_; }

 private:
  struct Call;  // one execution of the statement
  Prepared(const Statement& statement, const Table& table, const Dialect& dialect,
           std::string transaction)
      : statement_(&statement),
        table_(&table),
        transaction_(std::move(transaction)),
        returns_(statement.kind == Statement::Kind::update ? dialect.update_returns
                                                           : dialect.delete_returns),
        looks_again_(dialect.looks_again),
        row_locks_(dialect.row_locks) {}

  CallResult select(Call& call) const;
  CallResult aggregate(Call& call) const;
  std::optional<Value> aggregate_of(const Value& returned) const;
  Step aggregate_step(const Call& call, const Value& value) const;
  // Moves the rows into the record of the step, and keeps the file's columns of each in the answer.
  // False if one does not fit the table.
  bool take_rows(std::vector<std::vector<Value>>& rows, Step& step) const;
  CallResult insert(Call& call) const;
  CallResult update(Call& call) const;
  CallResult remove(Call& call) const;
  bool looks_again() const;
  bool only_found(const Call& call) const;
  bool asks_snapshot() const;
  Step query(const Call& call, bool found) const;

  const Statement* statement_;
  const Table* table_;
  std::string transaction_;
  bool returns_;
  bool looks_again_, row_locks_;
  Text text_;
  Text rows_after_;  // used for an update that does not return them
};

// The statements that DROP and CREATE the tables, with their indexes.
std::vector<std::string> schema_of(const File& file, const Dialect& dialect);

}  // namespace assay::internal::collect::sql
