// The statements of a file in the SQL of one database, and the operations recorded for them.
//
// Each table has two columns more: the name of the version of the row, which its writer gives it,
// and the name of the version that this one replaced. A row is recorded with the former, so every
// reader of it names its writer. An UPDATE writes both and returns the latter: this is the version
// it saw, and is recorded as read.
//
//   SELECT … WHERE id = 5              ["r","stock:5",{…}]; null if there is no such row
//   SELECT … WHERE number < 3          ["pred","number <
//                                      3",[["stock:5",{…}],…],{"keys":["stock:","stock;"]}]
//   SELECT count(*) … WHERE number < 3 the same, with the rows that were counted: the statement
//   asks for them too
//   … WITHOUT ROWS                     ["agg","number < 3",{"count":2,"keys":["stock:","stock;"]}]
//   UPDATE … WHERE number < 3          the same with the rows before, then ["w","stock:5",{…}] for
//                                      each
//   DELETE … WHERE number < 3          the same, then ["d","stock:5","3-17.2"]
//   INSERT …                           ["insert","stock:5",{…},true]
//
// An aggregate that is not that of its rows is recorded beside them as well, for the check to
// judge.
//
// A statement says only of the rows that it returned that they satisfied its condition ("found")
// where others may have done so too: behind LIMIT and SKIP LOCKED, and where a database looks at
// the rows that it locks once more. If the version that an UPDATE replaced is not known any more,
// its key alone is recorded ("matched").
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

// A statement's text, and what its parameters $1, $2, … are.
struct Text {
  std::string sql;
  std::vector<Expression> parameters;
};

class Prepared {
 public:
  // Refuses what the database cannot tell enough of; the error has the statement's place. `file`
  // must live as long.
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
  struct Call;  // of one time
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
  // Moves the rows into the record of the step, and leaves the file's columns of each. False if one
  // does not fit the table.
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
  Text rows_after_;  // of an update that does not return them
};

// DROP and CREATE of the tables, with their indexes.
std::vector<std::string> schema_of(const File& file, const Dialect& dialect);

}  // namespace assay::internal::collect::sql
