#include "collect/sql/program.h"

#include <utility>

namespace assay::internal::collect::sql {

// A statement with the values of one execution.
class Program::Bound : public SqlStatement {
 public:
  Bound(std::shared_ptr<const Program> program, size_t transaction, size_t number,
        std::vector<Value> parameters)
      : program_(std::move(program)),
        transaction_(transaction),
        number_(number),
        parameters_(std::move(parameters)) {}

  CallResult perform(DriverSession& session, const std::string& version, std::vector<Step>& steps,
                     Reply& reply) const override {
    return prepared().perform(parameters_, program_->versions_, session, version, steps, reply);
  }
  std::string sql(const std::string& version) const override {
    return prepared().sql(parameters_, version);
  }
  std::string_view locks() const override { return prepared().locks(); }
  std::string in_words() const override { return prepared().in_words(); }

 private:
  const Prepared& prepared() const { return program_->statements_[transaction_][number_]; }

  std::shared_ptr<const Program> program_;
  size_t transaction_, number_;
  std::vector<Value> parameters_;
};

std::shared_ptr<const SqlStatement> Program::statement(size_t transaction, size_t number,
                                                       std::vector<Value> parameters) const {
  return std::make_shared<Bound>(shared_from_this(), transaction, number, std::move(parameters));
}

std::vector<std::shared_ptr<const SqlStatement>> Program::first_rows() const {
  std::vector<std::shared_ptr<const SqlStatement>> inserts;
  for (size_t t = 0; t < file_.tables.size(); ++t)
    for (const std::vector<Value>& row : file_.tables[t].rows)
      inserts.push_back(statement(inserting(), t, row));
  return inserts;
}

std::vector<std::shared_ptr<const SqlStatement>> Program::all_rows() const {
  std::vector<std::shared_ptr<const SqlStatement>> queries;
  for (size_t t = 0; t < file_.tables.size(); ++t) queries.push_back(statement(asking(), t));
  return queries;
}

Status Program::set_up(Driver& driver) {
  const Dialect dialect = driver.dialect();
  if (!dialect.refusal.empty()) return usage_error(dialect.refusal);
  if (Status s = prepare(dialect); !s.ok()) return s;
  if (Status s = prepare_tables(dialect); !s.ok()) return s;
  auto session = driver.connect();
  if (!session.ok()) return session.error();
  for (const std::string& sql : schema_of(file_, dialect)) {
    SqlAnswer answer;
    const CallResult result = (*session)->execute({sql, {}}, answer);
    if (!result.ok()) return io_error(result.message);
  }
  return Ok{};
}

Status Program::prepare(const Dialect& dialect) {
  for (const Transaction& t : file_.transactions) {
    auto& prepared = statements_.emplace_back();
    for (const Action& action : t.actions) {
      if (action.kind != Action::Kind::statement) continue;
      auto one = Prepared::make(file_, action.statement, dialect, t.name);
      if (!one.ok()) return one.error();
      prepared.push_back(std::move(*one));
    }
  }
  return Ok{};
}

Status Program::prepare_tables(const Dialect& dialect) {
  const size_t tables = file_.tables.size();
  for (size_t t = 0; t < tables; ++t) {
    Statement& insert =
        made_up_.emplace_back(Statement{.kind = Statement::Kind::insert, .table = t});
    for (size_t c = 0; c < file_.tables[t].columns.size(); ++c)
      insert.values.emplace_back(c, Expression{.kind = Expression::Kind::parameter, .index = c});
  }
  for (size_t t = 0; t < tables; ++t) made_up_.push_back(Statement{.table = t});
  statements_.resize(statements_.size() + 2);
  for (size_t i = 0; i < made_up_.size(); ++i) {
    auto one = Prepared::make(file_, made_up_[i], dialect, "the first rows");
    if (!one.ok()) return one.error();
    statements_[i < tables ? inserting() : asking()].push_back(std::move(*one));
  }
  return Ok{};
}

}  // namespace assay::internal::collect::sql
