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
  // Prepares the statements for the database and makes the tables there. Refuses a database that
  // does not speak SQL, and statements of which it does not tell enough.
  Status set_up(Driver& driver);

  // Statement `number` of a transaction, with the values of the transaction's parameters; to be
  // performed once all is set up.
  std::shared_ptr<const SqlStatement> statement(size_t transaction, size_t number,
                                                std::vector<Value> parameters = {}) const;
  // Inserts the rows that the tables have to begin with.
  std::vector<std::shared_ptr<const SqlStatement>> first_rows() const;
  // Selects all rows of all tables.
  std::vector<std::shared_ptr<const SqlStatement>> all_rows() const;

 private:
  class Bound;
  Status prepare(const Dialect& dialect);
  Status prepare_tables(const Dialect& dialect);
  // The index of the first of the added statements, one for each table.
  size_t inserting() const { return file_.transactions.size(); }
  size_t asking() const { return file_.transactions.size() + 1; }

  const File file_;
  std::vector<std::vector<Prepared>> statements_;  // of each transaction, in their order
  std::vector<Statement> made_up_;                 // statements that are not in the file
  mutable Versions versions_;
};

}  // namespace assay::internal::collect::sql
