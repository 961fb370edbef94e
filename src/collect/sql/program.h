// The statements of a file, prepared for the current database.
#pragma once

#include <memory>
#include <vector>

#include "assay/result.h"
#include "collect/driver.h"
#include "collect/sql/file.h"
#include "collect/sql/prepared.h"
#include "collect/sql/statement.h"
#include "collect/sql/versions.h"

namespace assay::internal::collect::sql {

class Program : public std::enable_shared_from_this<Program> {
 public:
  explicit Program(File file) : file_(std::move(file)) {}

  const File& file() const { return file_; }
  // Prepares the statements for the database and creates the tables there. Refuses a database
  // without SQL, and statements about which it does not tell enough.
  Status set_up(Driver& driver);

  // Statement `number` of a transaction, with the values of the transaction's parameters; to be
  // performed after set_up.
  std::shared_ptr<const SqlStatement> statement(size_t transaction, size_t number,
                                                std::vector<Value> parameters = {}) const;
  // Statements that insert the initial rows of the tables.
  std::vector<std::shared_ptr<const SqlStatement>> first_rows() const;
  // Statements that select all rows of all tables.
  std::vector<std::shared_ptr<const SqlStatement>> all_rows() const;

 private:
  class Bound;
  Status prepare(const Dialect& dialect);
  Status prepare_tables(const Dialect& dialect);
  // The index of the first of the added statements, one for each table.
  size_t inserting() const { return file_.transactions.size(); }
  size_t asking() const { return file_.transactions.size() + 1; }

  const File file_;
  std::vector<std::vector<Prepared>> statements_;  // by transaction, in their order
  std::vector<Statement> made_up_;                 // statements that are not in the file
  mutable Versions versions_;
};

}  // namespace assay::internal::collect::sql
