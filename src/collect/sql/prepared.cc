#include "collect/sql/prepared.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "collect/schedule/observing.h"
#include "collect/sql/expression.h"
#include "history/aggregate.h"

namespace assay::internal::collect::sql {
namespace {

constexpr std::string_view kVersion = kVersionColumn;       // holds the name of the version of the
                                                            // row
constexpr std::string_view kBefore = "assay_before";        // holds the name of the version that it
                                                            // replaced
constexpr std::string_view kAggregate = "assay_aggregate";  // added to the rows from which it is
                                                            // computed

// Makes a text and its parameters.
class Writer {
 public:
  Writer(const Table& table, const Dialect& dialect) : table_(table), dialect_(dialect) {}

  Writer& put(std::string_view text) {
    text_.sql += text;
    return *this;
  }
  Writer& name(std::string_view name) {
    return put({&dialect_.quote, 1}).put(name).put({&dialect_.quote, 1});
  }
  Writer& table() { return name("assay_" + table_.name); }
  Writer& column(size_t i) { return name(table_.columns[i].name); }
  // Writes all columns of the table, then another one.
  Writer& columns(std::string_view last) {
    for (size_t c = 0; c < table_.columns.size(); ++c) column(c).put(", ");
    return name(last);
  }
  Writer& value(const Expression& e) {
    if (e.kind == Expression::Kind::column) return column(e.index);
    if (e.uses_columns()) return operation(e);
    if (e.kind == Expression::Kind::constant && e.constant.is_null()) return put("NULL");
    if (e.kind == Expression::Kind::constant && e.constant.is_integer())
      return put(std::to_string(e.constant.integer));
    return parameter(e);
  }
  Writer& parameter(Expression e) {
    text_.parameters.push_back(std::move(e));
    return put("$" + std::to_string(text_.parameters.size()));
  }
  // Writes the name of the new version: the parameter after those of the transaction.
  Writer& version() {
    return parameter({.kind = Expression::Kind::parameter, .index = kVersionAt});
  }
  Writer& where(const Where& w) {
    if (w.kind == Condition::Kind::all && w.parts.empty()) return *this;
    put(" WHERE ");
    return condition(w);
  }
  Writer& condition(const Where& w);
  Text take() { return std::move(text_); }

  static constexpr size_t kVersionAt = SIZE_MAX;

 private:
  Writer& operation(const Expression& e) {
    if (e.kind == Expression::Kind::negate) return put("(- ").value(e.parts[0]).put(")");
    const std::string_view sign = e.kind == Expression::Kind::add        ? " + "
                                  : e.kind == Expression::Kind::subtract ? " - "
                                  : e.kind == Expression::Kind::multiply ? " * "
                                                                         : " % ";
    return put("(").value(e.parts[0]).put(sign).value(e.parts[1]).put(")");
  }

  const Table& table_;
  const Dialect& dialect_;
  Text text_;
};

Writer& Writer::condition(const Where& w) {
  switch (w.kind) {
    case Condition::Kind::all:
    case Condition::Kind::any: {
      std::string_view before = "(";
      for (const Where& part : w.parts) {
        put(std::exchange(before, w.kind == Condition::Kind::all ? " AND " : " OR "));
        condition(part);
      }
      return put(")");
    }
    case Condition::Kind::negation:
      return put("NOT (").condition(w.parts[0]).put(")");
    case Condition::Kind::is_null:
      return column(w.column).put(" IS NULL");
    case Condition::Kind::between:
      return column(w.column).put(" BETWEEN ").value(w.values[0]).put(" AND ").value(w.values[1]);
    case Condition::Kind::in: {
      column(w.column);
      std::string_view before = " IN (";
      for (const Expression& e : w.values) put(std::exchange(before, ", ")).value(e);
      return put(")");
    }
    default:
      column(w.column);
      put(w.kind == Condition::Kind::equal  ? " = "
          : w.kind == Condition::Kind::less ? " < "
                                            : " <= ");
      return value(w.values[0]);
  }
}

std::string key_text(const Table& table, const Value& key) {
  return table.name + ':' + (key.is_integer() ? std::to_string(key.integer) : key.text);
}

std::string version_row(const Table& table, const std::vector<Value>& cells,
                        const std::string& version) {
  Row row;
  for (size_t c = 0; c < table.columns.size(); ++c)
    row.emplace_back(table.columns[c].name, cell_of(cells[c]));
  row.emplace_back(std::string(kWrittenBy), Cell{Cell::Type::string, 0, version});
  return row_text(std::move(row));
}

// A condition that every row satisfies.
std::string every_row(const Table& table) {
  Condition is_null{.kind = Condition::Kind::is_null, .column = table.columns[table.key].name};
  return Condition{.kind = Condition::Kind::negation, .parts = {is_null}}.to_string();
}

// Writes SELECT count(*) …, as in the file.
void put_aggregate(Writer& w, const Statement& s) {
  w.put("SELECT ").put(aggregate_name(*s.aggregate)).put("(");
  s.aggregate == AggregateFunction::count ? w.put("*") : w.column(s.column);
  w.put(")");
  if (!s.without_rows) w.put(" AS ").name(kAggregate);
  w.put(" FROM ").table().where(s.where);
}

// An aggregate and, in the same statement, the rows from which it is computed: at least one row,
// with nulls if there are none. The database computes the aggregate as it would without the rows.
Text aggregate_text(const Statement& s, const Table& table, const Dialect& dialect) {
  Writer w(table, dialect);
  if (s.without_rows) {
    put_aggregate(w, s);
    return w.take();
  }
  w.put("SELECT ").columns(kVersion).put(", ").name(kAggregate).put(" FROM (");
  put_aggregate(w, s);
  w.put(") AS ").name("assay_result").put(" LEFT JOIN (SELECT ").columns(kVersion);
  w.put(" FROM ").table().where(s.where).put(") AS ").name("assay_rows");
  return w.put(" ON 1 = 1").take();
}

Text select_text(const Statement& s, const Table& table, const Dialect& dialect) {
  if (s.aggregate) return aggregate_text(s, table, dialect);
  Writer w(table, dialect);
  w.put("SELECT ").columns(kVersion).put(" FROM ").table().where(s.where);
  std::string_view before = " ORDER BY ";
  for (const auto& [column, descending] : s.order)
    w.put(std::exchange(before, ", ")).column(column).put(descending ? " DESC" : "");
  if (!s.limit.empty()) w.put(" LIMIT ").value(s.limit[0]);
  if (s.lock == Lock::none || !dialect.row_locks) return w.take();
  w.put(s.lock == Lock::update ? " FOR UPDATE" : dialect.share);
  if (s.locked == Locked::skip) w.put(" SKIP LOCKED");
  if (s.locked == Locked::refuse) w.put(" NOWAIT");
  return w.take();
}

Text insert_text(const Statement& s, const Table& table, const Dialect& dialect) {
  Writer w(table, dialect);
  w.put("INSERT INTO ").table().put(" (");
  for (const auto& [column, value] : s.values) w.column(column).put(", ");
  w.name(kVersion).put(") VALUES (");
  for (const auto& [column, value] : s.values) w.value(value).put(", ");
  return w.version().put(")").take();
}

Text update_text(const Statement& s, const Table& table, const Dialect& dialect) {
  Writer w(table, dialect);
  // In this order, since MySQL sets one column after the other.
  w.put("UPDATE ").table().put(" SET ").name(kBefore).put(" = ").name(kVersion).put(", ");
  w.name(kVersion).put(" = ").version();
  for (const auto& [column, value] : s.values) w.put(", ").column(column).put(" = ").value(value);
  w.where(s.where);
  if (dialect.update_returns) w.put(" RETURNING ").columns(kBefore);
  return w.take();
}

Text rows_after_text(const Statement& s, const Table& table, const Dialect& dialect) {
  Writer w(table, dialect);
  w.put("SELECT ").columns(kBefore).put(" FROM ").table();
  if (is_key_alone(s.where, table)) return w.where(s.where).take();
  return w.put(" WHERE ").name(kVersion).put(" = ").version().take();
}

Text remove_text(const Statement& s, const Table& table, const Dialect& dialect) {
  Writer w(table, dialect);
  w.put("DELETE FROM ").table().where(s.where);
  if (dialect.delete_returns) w.put(" RETURNING ").columns(kVersion);
  return w.take();
}

}  // namespace

namespace {

Result<Value> value_of(const Expression& e, const std::vector<Value>& parameters,
                       const std::string& version) {
  if (e.kind == Expression::Kind::parameter && e.index == Writer::kVersionAt)
    return Value::of(version);
  return evaluate(e, parameters);
}

}  // namespace

struct Prepared::Call {
  const std::vector<Value>& parameters;
  Versions& versions;
  DriverSession& session;
  const std::string& version;
  std::vector<Step>& steps;
  Reply& reply;
  std::optional<Value> key = {};  // of the only row that is meant
  std::string where = {};         // the condition, as in the history

  CallResult send(const Text& text, SqlAnswer& answer, bool asks_snapshot = false) const {
    std::vector<Value> values;
    for (const Expression& e : text.parameters) {
      Result<Value> value = value_of(e, parameters, version);
      if (!value.ok()) return CallResult::fatal(value.error().message);
      values.push_back(std::move(*value));
    }
    return session.execute({text.sql, values, asks_snapshot}, answer);
  }
};

Result<Prepared> Prepared::make(const File& file, const Statement& statement,
                                const Dialect& dialect, std::string transaction) {
  const Table& table = file.tables[statement.table];
  Prepared made(statement, table, dialect, std::move(transaction));
  switch (statement.kind) {
    case Statement::Kind::select:
      made.text_ = select_text(statement, table, dialect);
      break;
    case Statement::Kind::insert:
      made.text_ = insert_text(statement, table, dialect);
      break;
    case Statement::Kind::update:
      made.text_ = update_text(statement, table, dialect);
      if (!made.returns_) made.rows_after_ = rows_after_text(statement, table, dialect);
      break;
    case Statement::Kind::remove:
      if (!made.returns_ && key_of(statement.where, table) == nullptr) {
        Error error = bad_input(
            fmt::format("{} does not report which rows a DELETE removed; expected 'where {} = …'",
                        dialect.database, table.columns[table.key].name),
            statement.place.line, statement.place.column);
        error.file = file.path;
        return error;
      }
      made.text_ = remove_text(statement, table, dialect);
  }
  return made;
}

std::string Prepared::sql(const std::vector<Value>& parameters, const std::string& version) const {
  std::string out;
  const std::string& text = text_.sql;
  size_t done = 0;
  for (size_t n = 0; n < text_.parameters.size(); ++n) {
    // Names in a file contain no $.
    const std::string place = "$" + std::to_string(n + 1);
    const size_t at = text.find(place, done);
    const Result<Value> value = value_of(text_.parameters[n], parameters, version);
    if (at == std::string::npos || !value.ok()) return {};
    out += text.substr(done, at - done);
    out += value->is_null()      ? "NULL"
           : value->is_integer() ? std::to_string(value->integer)
                                 : schedule::in_quotes(value->text, '\'');
    done = at + place.size();
  }
  return out + text.substr(done);
}

// The locks of a statement. Rows that it skips because another transaction holds them are not
// locked by it.
std::string_view Prepared::locks() const {
  if (!row_locks_ || statement_->lock == Lock::none || statement_->locked == Locked::skip)
    return {};
  return statement_->lock == Lock::update ? "update" : "share";
}

std::string Prepared::in_words() const {
  constexpr std::string_view kWords[] = {"select", "insert", "update", "delete"};
  return fmt::format("{} of {} in {}", kWords[static_cast<size_t>(statement_->kind)], table_->name,
                     transaction_);
}

CallResult Prepared::perform(const std::vector<Value>& parameters, Versions& versions,
                             DriverSession& session, const std::string& version,
                             std::vector<Step>& steps, Reply& reply) const {
  Call call{parameters, versions, session, version, steps, reply};
  if (statement_->kind == Statement::Kind::insert) return insert(call);
  const Result<Condition> where = condition_of(statement_->where, *table_, parameters);
  if (!where.ok()) return CallResult::fatal(where.error().message);
  call.where = where->to_string();
  // A change without a condition may concern rows that are not known in full, and only a condition
  // can record that (Reply::matched).
  if (call.where.empty() && statement_->kind != Statement::Kind::select)
    call.where = every_row(*table_);
  if (const Expression* key = key_of(statement_->where, *table_)) {
    const Result<Value> value = evaluate(*key, parameters);
    if (value.ok() && !value->is_null()) call.key = *value;
  }
  switch (statement_->kind) {
    case Statement::Kind::update:
      return update(call);
    case Statement::Kind::remove:
      return remove(call);
    default:
      return select(call);
  }
}

// The part of a statement that observes rows.
Step Prepared::query(const Call& call, bool found) const {
  Step step;
  step.request.kind = OpKind::range;
  step.request.where = call.where;
  step.request.found = found;
  // A table's keys are those between its name with a colon and its name with the next character.
  step.request.key = Value::of(call.key ? key_text(*table_, *call.key) : table_->name + ':');
  step.request.high = call.key ? step.request.key : Value::of(table_->name + ';');
  return step;
}

// Whether the statement may examine rows in versions newer than those of its snapshot.
bool Prepared::looks_again() const {
  return looks_again_ &&
         (statement_->kind != Statement::Kind::select || statement_->lock != Lock::none);
}

bool Prepared::only_found(const Call& call) const {
  if (!statement_->limit.empty() || statement_->locked == Locked::skip) return true;
  // For a single row, each look is at one version of it.
  return looks_again() && !call.key;
}

// Whether everything that the statement's snapshot shows, and it did not return, is what it passed
// over.
bool Prepared::asks_snapshot() const {
  const Statement& s = *statement_;
  const bool all = s.where.kind == Condition::Kind::all && s.where.parts.empty();
  return !looks_again() && s.limit.empty() && s.locked != Locked::skip && !s.without_rows &&
         !is_key_alone(s.where, *table_) && !(all && s.kind == Statement::Kind::select);
}

namespace {

// Adds the observations. A query for one row by its key alone is a read of the key, and says
// nothing more.
void put_observed(std::vector<Step>& steps, Step query, bool by_key) {
  Reply& reply = query.reply;
  if (!by_key || !reply.matched.empty()) {
    if (!query.request.found || !reply.rows.empty() || !reply.matched.empty())
      steps.push_back(std::move(query));
    return;
  }
  Step read;
  read.request.key = query.request.key;
  if (!reply.rows.empty())
    read.reply.value = std::move(reply.rows[0].second);
  else if (query.request.found)
    return;
  steps.push_back(std::move(read));
}

void put_change(std::vector<Step>& steps, OpKind kind, Value key, Value value) {
  Step step;
  step.request.kind = kind;
  step.request.key = std::move(key);
  step.request.value = std::move(value);
  steps.push_back(std::move(step));
}

CallResult not_as_expected(const std::string& what) {
  return CallResult::fatal("what the database returned cannot be recorded: " + what);
}

// Whether the answer has the columns of the table, in their types, followed by the name of a
// version.
bool fits(const Table& table, const std::vector<Value>& row, bool version_may_be_null) {
  const size_t columns = table.columns.size();
  if (row.size() != columns + 1) return false;
  for (size_t c = 0; c < columns; ++c)
    if (!row[c].is_null() && row[c].is_integer() != (table.columns[c].type == Type::integer))
      return false;
  return row[columns].type == ValueView::Type::string ||
         (version_may_be_null && row[columns].is_null());
}

// An integer result. Databases return sums in types of their own, some of them as text.
std::optional<Value> integer_of(const Value& value) {
  if (value.is_null() || value.is_integer()) return value;
  int64_t integer = 0;
  const char* const end = value.text.data() + value.text.size();
  const auto [rest, error] = std::from_chars(value.text.data(), end, integer);
  if (value.type != ValueView::Type::string || error != std::errc{} || rest != end)
    return std::nullopt;
  return Value::of(integer);
}

// The value of the statement's aggregate over these rows: nulls do not count, and over no values it
// is null. nullopt if a sum does not fit into 64 bits.
std::optional<Value> computed(const Statement& s, const std::vector<std::vector<Value>>& rows) {
  if (s.aggregate == AggregateFunction::count) return Value::of(static_cast<int64_t>(rows.size()));
  std::vector<Value> values;
  for (const std::vector<Value>& row : rows)
    if (!row[s.column].is_null()) values.push_back(row[s.column]);
  if (values.empty()) return Value();
  const auto less = [](const Value& a, const Value& b) { return compare(Comparison::less, a, b); };
  if (s.aggregate == AggregateFunction::min)
    return *std::min_element(values.begin(), values.end(), less);
  if (s.aggregate == AggregateFunction::max)
    return *std::max_element(values.begin(), values.end(), less);
  __extension__ __int128 sum = 0;
  for (const Value& value : values) sum += value.integer;
  if (sum != static_cast<int64_t>(sum)) return std::nullopt;
  return Value::of(static_cast<int64_t>(sum));
}

}  // namespace

std::optional<Value> Prepared::aggregate_of(const Value& returned) const {
  const AggregateFunction function = *statement_->aggregate;
  const bool of_text = function != AggregateFunction::count &&
                       table_->columns[statement_->column].type == Type::text;
  std::optional<Value> value = of_text ? returned : integer_of(returned);
  if (value && !may_return(function, value->view())) value.reset();
  return value;
}

Step Prepared::aggregate_step(const Call& call, const Value& value) const {
  Step step = query(call, false);
  step.request.aggregate = *statement_->aggregate;
  if (statement_->aggregate != AggregateFunction::count)
    step.request.column = table_->columns[statement_->column].name;
  step.reply.value = value;
  return step;
}

CallResult Prepared::aggregate(Call& call) const {
  SqlAnswer answer;
  CallResult result = call.send(text_, answer, asks_snapshot());
  if (!result.ok()) return result;
  std::vector<std::vector<Value>>& rows = answer.rows;
  CallResult misfit = not_as_expected(
      fmt::format("{} of {}", aggregate_name(*statement_->aggregate), table_->name));
  const size_t columns = statement_->without_rows ? 1 : table_->columns.size() + 2;
  if (rows.empty() || (statement_->without_rows && rows.size() > 1)) return misfit;
  for (const std::vector<Value>& row : rows)
    if (row.size() != columns || row.back() != rows[0].back()) return misfit;
  const std::optional<Value> value = aggregate_of(rows[0].back());
  if (!value) return misfit;
  call.reply.cells.push_back({*value});
  if (statement_->without_rows) {
    call.steps.push_back(aggregate_step(call, *value));
    return result;
  }
  for (std::vector<Value>& row : rows) row.pop_back();
  // No row: the answer is one row of nulls, including the name of the version.
  if (rows.size() == 1 && rows[0].back().is_null()) rows.clear();
  const bool is_theirs = *value == computed(*statement_, rows);
  Step step = query(call, false);
  step.reply.snapshot = std::move(answer.snapshot);
  if (!take_rows(rows, step)) return not_as_expected("a row of " + table_->name);
  put_observed(call.steps, std::move(step), call.key && is_key_alone(statement_->where, *table_));
  if (!is_theirs) call.steps.push_back(aggregate_step(call, *value));
  return result;
}

bool Prepared::take_rows(std::vector<std::vector<Value>>& rows, Step& step) const {
  for (std::vector<Value>& row : rows) {
    if (!fits(*table_, row, false)) return false;
    step.reply.rows.emplace_back(Value::of(key_text(*table_, row[table_->key])),
                                 Value::row(version_row(*table_, row, row.back().text)));
    row.pop_back();
  }
  return true;
}

CallResult Prepared::select(Call& call) const {
  if (statement_->aggregate) return aggregate(call);
  SqlAnswer answer;
  CallResult result = call.send(text_, answer, asks_snapshot());
  if (!result.ok()) return result;
  Step step = query(call, only_found(call));
  step.reply.snapshot = std::move(answer.snapshot);
  if (!take_rows(answer.rows, step)) return not_as_expected("a row of " + table_->name);
  call.reply.cells = std::move(answer.rows);
  put_observed(call.steps, std::move(step), call.key && is_key_alone(statement_->where, *table_));
  return result;
}

CallResult Prepared::insert(Call& call) const {
  std::vector<Value> row(table_->columns.size());
  for (const auto& [column, expression] : statement_->values) {
    const Result<Value> value = evaluate(expression, call.parameters);
    if (!value.ok()) return CallResult::fatal(value.error().message);
    row[column] = *value;
  }
  const std::string key = key_text(*table_, row[table_->key]);
  const std::string text = version_row(*table_, row, call.version);
  call.versions.note(key, call.version, text);
  SqlAnswer answer;
  CallResult result = call.send(text_, answer);
  // Only an insert that succeeded tells that the key was absent.
  put_change(call.steps, result.ok() ? OpKind::insert : OpKind::write, Value::of(key),
             Value::row(text));
  return result;
}

CallResult Prepared::update(Call& call) const {
  SqlAnswer answer;
  CallResult result = call.send(text_, answer, asks_snapshot());
  if (!result.ok()) return result;
  if (!returns_ && answer.changed > 0) {
    const uint64_t changed = answer.changed;
    answer = {};
    result = call.send(rows_after_, answer);
    if (!result.ok()) return result;
    if (answer.rows.size() != changed)
      return not_as_expected(fmt::format("{} rows were updated, but {} are there afterwards",
                                         changed, answer.rows.size()));
  }
  Step step = query(call, only_found(call));
  step.reply.snapshot = std::move(answer.snapshot);
  std::vector<Step> writes;
  for (const std::vector<Value>& row : answer.rows) {
    if (!fits(*table_, row, true)) return not_as_expected("a row of " + table_->name);
    const std::string key = key_text(*table_, row[table_->key]);
    std::string text = version_row(*table_, row, call.version);
    if (auto before = call.versions.find(key, row.back().text))
      step.reply.rows.emplace_back(Value::of(key), Value::row(std::move(*before)));
    else
      step.reply.matched.push_back(Value::of(key));
    call.versions.note(key, call.version, text);
    put_change(writes, OpKind::write, Value::of(key), Value::row(std::move(text)));
  }
  put_observed(call.steps, std::move(step), call.key && is_key_alone(statement_->where, *table_));
  for (Step& write : writes) call.steps.push_back(std::move(write));
  return result;
}

CallResult Prepared::remove(Call& call) const {
  SqlAnswer answer;
  CallResult result = call.send(text_, answer, asks_snapshot());
  if (!result.ok()) return result;
  Step step = query(call, only_found(call));
  step.reply.snapshot = std::move(answer.snapshot);
  std::vector<Step> removals;
  const auto removed = [&](const std::string& key) {
    put_change(removals, OpKind::remove, Value::of(key), Value::of(call.version));
  };
  for (const std::vector<Value>& row : answer.rows) {
    if (!fits(*table_, row, false)) return not_as_expected("a row of " + table_->name);
    const std::string key = key_text(*table_, row[table_->key]);
    step.reply.rows.emplace_back(Value::of(key),
                                 Value::row(version_row(*table_, row, row.back().text)));
    removed(key);
  }
  if (!returns_ && answer.changed > 0) {
    if (!call.key || answer.changed > 1) return not_as_expected("more than one row was deleted");
    const std::string key = key_text(*table_, *call.key);
    step.reply.matched.push_back(Value::of(key));
    removed(key);
  }
  put_observed(call.steps, std::move(step), call.key && is_key_alone(statement_->where, *table_));
  for (Step& removal : removals) call.steps.push_back(std::move(removal));
  return result;
}

std::vector<std::string> schema_of(const File& file, const Dialect& dialect) {
  std::vector<std::string> sql;
  for (const Table& table : file.tables) {
    const auto indexed = [&](size_t column) {
      return column == table.key ||
             std::any_of(table.indexes.begin(), table.indexes.end(), [&](const auto& columns) {
               return std::find(columns.begin(), columns.end(), column) != columns.end();
             });
    };
    sql.push_back(Writer(table, dialect).put("DROP TABLE IF EXISTS ").table().take().sql);
    Writer create(table, dialect);
    create.put("CREATE TABLE ").table().put(" (");
    for (size_t c = 0; c < table.columns.size(); ++c) {
      const Column& column = table.columns[c];
      create.column(c).put(" ").put(column.type == Type::integer ? dialect.integer
                                    : indexed(c)                 ? dialect.key_text
                                                                 : dialect.text);
      create.put(column.not_null ? " NOT NULL, " : ", ");
    }
    create.name(kVersion).put(" ").put(dialect.key_text).put(" NOT NULL, ");
    create.name(kBefore).put(" ").put(dialect.key_text).put(", PRIMARY KEY (").column(table.key);
    sql.push_back(create.put("))").take().sql);
    std::vector<std::vector<std::string>> indexes;
    for (const auto& columns : table.indexes) {
      indexes.emplace_back();
      for (const size_t c : columns) indexes.back().push_back(table.columns[c].name);
    }
    // Used if the rows that an UPDATE wrote are selected by their version.
    if (!dialect.update_returns) indexes.push_back({std::string(kVersion)});
    for (size_t i = 0; i < indexes.size(); ++i) {
      Writer index(table, dialect);
      index.put("CREATE INDEX ").name(fmt::format("assay_{}_{}", table.name, i + 1)).put(" ON ");
      index.table();
      std::string_view before = " (";
      for (const std::string& column : indexes[i])
        index.put(std::exchange(before, ", ")).name(column);
      sql.push_back(index.put(")").take().sql);
    }
  }
  return sql;
}

}  // namespace assay::internal::collect::sql
