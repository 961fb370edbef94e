#include "collect/sql/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "collect/sql/expression.h"
#include "collect/sql/parser.h"
#include "collect/sql/program.h"

namespace assay::internal::collect::sql {
namespace {

// A step that cannot be executed, such as a sum that is not a 64-bit integer: the run ends with its
// message.
class Impossible : public SqlStatement {
 public:
  Impossible(Error error, std::string transaction)
      : error_(std::move(error)), transaction_(std::move(transaction)) {}
  CallResult perform(DriverSession&, const std::string&, std::vector<Step>&,
                     Reply&) const override {
    return CallResult::fatal(error_.to_string());
  }
  std::string sql(const std::string&) const override { return {}; }
  std::string in_words() const override { return "a step of " + transaction_; }

 private:
  const Error error_;
  const std::string transaction_;
};

class Session : public WorkloadSession {
 public:
  Session(std::shared_ptr<const Program> program, Rng rng, WrittenValues fresh)
      : program_(std::move(program)), rng_(rng), before_(rng), fresh_(fresh) {
    for (const Transaction& t : program_->file().transactions) weights_ += t.weight;
  }

  void start(bool retry) override {
    if (retry)
      rng_ = before_;
    else
      before_ = rng_;
    uint64_t drawn = rng_.below(weights_);
    transaction_ = 0;
    while (drawn >= now().weight) drawn -= program_->file().transactions[transaction_++].weight;
    parameters_.assign(now().parameters.size(), Value());
    action_ = statement_ = 0;
    selected_.clear();
  }

  std::string what() const override {
    return fmt::format("{} ({}:{})", now().name, program_->file().path, now().place.line);
  }

  bool next(const Reply* last, Request& request) override {
    if (last != nullptr && selects_) keep(*last);
    for (; action_ < now().actions.size(); ++action_) {
      const Action& action = now().actions[action_];
      if (action.kind == Action::Kind::statement) {
        ++action_;
        selects_ = action.statement.kind == Statement::Kind::select;
        request.statement = program_->statement(transaction_, statement_++, parameters_);
        return true;
      }
      const Result<bool> goes_on = take(action);
      if (!goes_on.ok()) return refuse(action, goes_on.error(), request);
      if (!*goes_on) return false;
    }
    return false;
  }

 private:
  const Transaction& now() const { return program_->file().transactions[transaction_]; }

  void keep(const Reply& last) {
    selected_ = last.cells;
    // All columns that are taken come from the same row.
    if (!selected_.empty()) row_ = rng_.below(selected_.size());
  }

  bool refuse(const Action& action, Error error, Request& request) {
    error.file = program_->file().path;
    error.line = action.place.line;
    error.column = action.place.column;
    request.statement = std::make_shared<Impossible>(std::move(error), now().name);
    action_ = now().actions.size();
    selects_ = false;
    return true;
  }

  // Returns false if the transaction ends here.
  Result<bool> take(const Action& action) {
    std::vector<Value> values;
    for (const Expression& e : action.values) {
      Result<Value> value = evaluate(e, parameters_);
      if (!value.ok()) return value.error();
      values.push_back(std::move(*value));
    }
    if (action.kind == Action::Kind::require)
      return compare(action.comparison, values[0], values[1]);
    if (action.kind == Action::Kind::take && selected_.empty()) return false;
    Result<Value> value = value_of(action, std::move(values));
    if (!value.ok()) return value.error();
    parameters_[action.parameter] = std::move(*value);
    return true;
  }

  Result<Value> value_of(const Action& action, std::vector<Value> values) {
    switch (action.kind) {
      case Action::Kind::draw:
        return draw(values[0], values[1]);
      case Action::Kind::choose:
        return values[rng_.below(values.size())];
      case Action::Kind::fresh:
        return Value::of(kFirstFresh + fresh_.take_unique().integer);
      case Action::Kind::take:
        return selected_[row_][action.column];
      case Action::Kind::count:
        return Value::of(static_cast<int64_t>(selected_.size()));
      case Action::Kind::result:
        if (selected_.empty()) return bad_input("no aggregate was selected; expected one before");
        return selected_[0][0];
      case Action::Kind::sum:
      case Action::Kind::least:
      case Action::Kind::most:
        return aggregate(action);
      default:
        return values[0];
    }
  }

  Result<Value> draw(const Value& low, const Value& high) {
    if (low.is_null() || high.is_null() || low.integer > high.integer)
      return bad_input("a range without a number in it; expected the smaller number first");
    return Value::of(rng_.between(low.integer, high.integer));
  }

  // As in SQL, nulls do not count, and of no values there is no least one; but the sum of no values
  // is 0.
  Result<Value> aggregate(const Action& action) const {
    Value result = action.kind == Action::Kind::sum ? Value::of(int64_t{0}) : Value();
    for (const std::vector<Value>& row : selected_) {
      const Value& value = row[action.column];
      if (value.is_null()) continue;
      if (action.kind == Action::Kind::sum) {
        if (__builtin_add_overflow(result.integer, value.integer, &result.integer))
          return bad_input("a sum that is not a 64-bit integer; expected smaller numbers");
      } else if (result.is_null() ||
                 compare(action.kind == Action::Kind::least ? Comparison::less : Comparison::more,
                         value, result)) {
        result = value;
      }
    }
    return result;
  }

  // New keys are greater than the usual initial keys of files.
  static constexpr int64_t kFirstFresh = 1'000'000'000;

  std::shared_ptr<const Program> program_;
  Rng rng_, before_;
  WrittenValues fresh_;
  uint64_t weights_ = 0;
  size_t transaction_ = 0, action_ = 0, statement_ = 0;
  std::vector<Value> parameters_;
  bool selects_ = false;  // the current statement is a SELECT
  std::vector<std::vector<Value>> selected_;
  size_t row_ = 0;
};

class SqlWorkload : public Workload {
 public:
  explicit SqlWorkload(File file) : program_(std::make_shared<Program>(std::move(file))) {}

  std::unique_ptr<WorkloadSession> open(uint32_t session, uint32_t sessions,
                                        uint64_t seed) const override {
    return std::make_unique<Session>(program_, Rng(seed).split(session),
                                     WrittenValues(session, sessions));
  }
  std::span<const OpKind> kinds() const override { return {}; }
  std::vector<RowTable> row_tables() const override {
    std::vector<RowTable> tables;
    for (const Table& t : program_->file().tables)
      tables.push_back({t.name, t.columns[t.key].name});
    return tables;
  }
  bool selects() const override { return true; }
  bool aggregates() const override {
    for (const Transaction& t : program_->file().transactions)
      for (const Action& action : t.actions)
        if (action.kind == Action::Kind::statement && action.statement.aggregate) return true;
    return false;
  }

  Status set_up(Driver& driver) override { return program_->set_up(driver); }
  std::vector<Request> first_writes() const override { return requests_of(program_->first_rows()); }
  std::vector<Request> final_reads(uint64_t, Rng&) const override {
    return requests_of(program_->all_rows());
  }

 private:
  static std::vector<Request> requests_of(
      std::vector<std::shared_ptr<const SqlStatement>> statements) {
    std::vector<Request> requests;
    for (auto& statement : statements) {
      Request request;
      request.statement = std::move(statement);
      requests.push_back(std::move(request));
    }
    return requests;
  }

  std::shared_ptr<Program> program_;
};

}  // namespace

Result<std::unique_ptr<Workload>> make_workload(const std::string& path) {
  Result<File> file = read_file(path);
  if (!file.ok()) return file.error();
  return std::unique_ptr<Workload>(std::make_unique<SqlWorkload>(std::move(*file)));
}

}  // namespace assay::internal::collect::sql
