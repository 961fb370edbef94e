#include "collect/drivers/sql.h"

#include <fmt/format.h>

#include "collect/run_id.h"

namespace assay::internal::collect {
namespace {

constexpr std::string_view kValues = "assay_kv";
constexpr std::string_view kLists = "assay_list";

std::string write_sql(Upsert upsert, std::string_view table, std::string_view column) {
  switch (upsert) {
    case Upsert::on_conflict:
      return fmt::format(
          "INSERT INTO {0} (k, {1}) VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET {1} = "
          "EXCLUDED.{1}",
          table, column);
    case Upsert::on_duplicate_key:
      return fmt::format(
          "INSERT INTO {0} (k, {1}) VALUES ($1, $2) ON DUPLICATE KEY UPDATE {1} = VALUES({1})",
          table, column);
    case Upsert::merge:
      return fmt::format("MERGE INTO {0} (k, {1}) KEY (k) VALUES ($1, $2)", table, column);
  }
  return {};
}

std::string insert_sql(Upsert upsert, std::string_view table, std::string_view column) {
  switch (upsert) {
    case Upsert::on_conflict:
      return fmt::format("INSERT INTO {} (k, {}) VALUES ($1, $2) ON CONFLICT (k) DO NOTHING", table,
                         column);
    case Upsert::on_duplicate_key:
      return fmt::format("INSERT IGNORE INTO {} (k, {}) VALUES ($1, $2)", table, column);
    case Upsert::merge:
      return fmt::format(
          "INSERT INTO {0} (k, {1}) SELECT CAST($1 AS VARCHAR), CAST($2 AS VARCHAR) WHERE NOT "
          "EXISTS (SELECT 1 FROM {0} WHERE k = $1)",
          table, column);
  }
  return {};
}

std::string append_sql(Upsert upsert, std::string_view table, std::string_view column) {
  switch (upsert) {
    case Upsert::on_conflict:
      return fmt::format(
          "INSERT INTO {0} (k, {1}) VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET {1} = {0}.{1} || "
          "',' || EXCLUDED.{1}",
          table, column);
    case Upsert::on_duplicate_key:
      return fmt::format(
          "INSERT INTO {0} (k, {1}) VALUES ($1, $2) ON DUPLICATE KEY UPDATE {1} = CONCAT({1}, ',', "
          "VALUES({1}))",
          table, column);
    case Upsert::merge:
      return fmt::format("UPDATE {0} SET {1} = {1} || ',' || $2 WHERE k = $1", table, column);
  }
  return {};
}

}  // namespace

SqlStatements::Column SqlStatements::make_column(std::string table, std::string name) const {
  Column c;
  c.read = fmt::format("SELECT {} FROM {} WHERE k = $1", name, table);
  c.write = write_sql(upsert_, table, name);
  c.insert = insert_sql(upsert_, table, name);
  c.cas = fmt::format("UPDATE {0} SET {1} = $2 WHERE k = $1 AND {1} = $3", table, name);
  c.remove = fmt::format("DELETE FROM {} WHERE k = $1", table);
  c.range = fmt::format("SELECT k, {} FROM {} WHERE k >= $1 AND k <= $2 ORDER BY k", name, table);
  c.query = fmt::format(
      "SELECT k, {0} FROM {1} WHERE k >= $1 AND k <= $2 AND {0} >= $3 AND {0} <= $4 ORDER BY k",
      name, table);
  c.append = append_sql(upsert_, table, name);
  c.table = std::move(table);
  c.name = std::move(name);
  return c;
}

void SqlStatements::ask_back(Column& c) const {
  if (returning_.empty()) return;
  for (std::string* sql : {&c.write, &c.insert, &c.cas, &c.remove, &c.append})
    *sql += " RETURNING " + returning_;
}

SqlStatements::SqlStatements(Upsert upsert, std::span<const Table> tables,
                             std::string_view returning)
    : upsert_(upsert), returning_(returning), tables_(tables.begin(), tables.end()) {
  columns_.push_back(make_column(std::string(kValues), "v"));
  columns_.push_back(make_column(std::string(kLists), "v"));
  for (const Table& table : tables_)
    for (const std::string& column : table.columns) {
      columns_.push_back(make_column("assay_" + table.name, column));
      // Other cells of the row stay.
      columns_.back().remove =
          fmt::format("UPDATE assay_{} SET {} = NULL WHERE k = $1", table.name, column);
    }
  for (Column& c : columns_) ask_back(c);
}

const SqlStatements::Column& SqlStatements::column_of(const Value& key, std::string& row) const {
  const std::string_view text = key.text;
  const size_t first = text.find(':');
  const size_t last = text.rfind(':');
  if (!tables_.empty() && first != last) {
    const std::string_view table = text.substr(0, first), column = text.substr(last + 1);
    for (size_t i = 2; i < columns_.size(); ++i)
      if (columns_[i].name == column && std::string_view(columns_[i].table).substr(6) == table) {
        row = text.substr(first + 1, last - first - 1);
        return columns_[i];
      }
  }
  row = encode_key(key);
  return columns_.front();
}

SqlCall SqlStatements::of(const Request& request) const {
  std::string row;
  const Column& c = column_of(request.key, row);
  // It takes more than one statement to tell whether a cell of an existing row was empty.
  const bool cell = &c != &columns_.front();
  const bool if_absent =
      request.kind == OpKind::insert || (request.kind == OpKind::cas && request.expected.is_null());
  if (cell && if_absent) return {};
  switch (request.kind) {
    case OpKind::read:
      return {c.read, {std::move(row)}};
    case OpKind::write:
      return {c.write, {std::move(row), encode_value(request.value)}};
    case OpKind::insert:
      return {c.insert, {std::move(row), encode_value(request.value)}};
    case OpKind::cas:
      if (if_absent) return {c.insert, {std::move(row), encode_value(request.value)}};
      return {c.cas, {std::move(row), encode_value(request.value), encode_value(request.expected)}};
    case OpKind::remove:
      return {c.remove, {std::move(row)}};
    case OpKind::append:
      return {columns_[1].append, {encode_key(request.key), encode_element(request.value)}};
    case OpKind::read_list:
      return {columns_[1].read, {encode_key(request.key)}};
    case OpKind::range: {
      SqlCall call{columns_.front().range,
                   {request.key.is_null() ? std::string(kFirstKey) : encode_key(request.key),
                    request.high.is_null() ? std::string(kLastKey) : encode_key(request.high)}};
      if (!request.selects()) return call;
      call.sql = columns_.front().query;
      call.parameters.push_back(encode_value(request.least));
      call.parameters.push_back(encode_value(request.most));
      return call;
    }
  }
  return {};
}

bool SqlStatements::is_cell(const Value& key) const {
  std::string row;
  return !tables_.empty() && &column_of(key, row) != &columns_.front();
}

SqlCall SqlStatements::first_element(const Request& request) const {
  return {columns_[1].insert, {encode_key(request.key), encode_element(request.value)}};
}

std::vector<std::string> SqlStatements::schema(std::string_view key, std::string_view text) const {
  std::vector<std::string> sql;
  const auto table = [&](std::string_view name, const std::vector<std::string>& columns) {
    sql.push_back(fmt::format("DROP TABLE IF EXISTS {}", name));
    std::string create = fmt::format("CREATE TABLE {} (k {} PRIMARY KEY", name, key);
    for (const std::string& column : columns) create += fmt::format(", {} {}", column, text);
    sql.push_back(create + ")");
  };
  table(kValues, {"v"});
  table(kLists, {"v"});
  for (const Table& t : tables_) table("assay_" + t.name, t.columns);
  return sql;
}

void take_reply(const Request& request, const TextRows& rows, uint64_t changed, Reply& reply) {
  const auto value = [](const std::optional<std::string>& text) {
    return text ? decode_value(*text) : Value();
  };
  switch (request.kind) {
    case OpKind::read:
      reply.value = rows.empty() ? Value() : value(rows[0][0]);
      break;
    case OpKind::read_list:
      reply.list = rows.empty() ? std::vector<Value>() : decode_list(rows[0][0].value_or(""));
      break;
    case OpKind::range:
      reply.rows.clear();
      for (const auto& row : rows) reply.rows.emplace_back(decode_key(*row[0]), value(row[1]));
      break;
    case OpKind::insert:
    case OpKind::cas:
    case OpKind::remove:
      reply.effect = changed == 1;
      break;
    default:
      break;
  }
}

std::vector<std::string> run_table(const RunMark& mark) {
  return {"DROP TABLE IF EXISTS assay_run", "CREATE TABLE assay_run (id varchar(40) PRIMARY KEY)",
          fmt::format("INSERT INTO assay_run VALUES ('{}')", mark_text(mark))};
}

std::string finish_statement(RunMark mark) {
  const std::string open = mark_text(mark);
  mark.finished = true;
  return fmt::format("UPDATE assay_run SET id = '{}' WHERE id = '{}'", mark_text(mark), open);
}

}  // namespace assay::internal::collect
