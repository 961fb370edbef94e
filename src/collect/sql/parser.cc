#include "collect/sql/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>

#include "collect/sql/expression.h"
#include "collect/sql/lexer.h"
#include "collect/sql/values.h"
#include "formats/utf8.h"
#include "history/aggregate.h"

namespace assay::internal::collect::sql {
namespace {

constexpr uint64_t kMostRows = 10'000;
constexpr uint64_t kMostWeight = 1'000'000;
constexpr size_t kMostColumns = 64;
// Names of assay's own tables.
constexpr std::string_view kTaken[] = {"kv", "list", "run", "log"};

class Parser : private Values {
 public:
  Parser(std::vector<Token> tokens, std::string path) : Values(std::move(tokens)) {
    file_.path = std::move(path);
  }

  File run() {
    while (now().kind != Token::Kind::end) {
      if (take("create"))
        now().is("table") ? table() : index();
      else if (take("fill"))
        fill();
      else if (take("transaction"))
        transaction();
      else
        expected("create table, create index, fill or transaction");
    }
    if (file_.tables.empty()) fail(now().place, "no table; expected create table");
    if (file_.transactions.empty()) fail(now().place, "no transaction; expected one");
    return std::move(file_);
  }

 private:
  // Each of these reads a name of the file.
  size_t table_named() {
    const Place place = now().place;
    const std::string wanted = name("the name of a table");
    for (size_t i = 0; i < file_.tables.size(); ++i)
      if (file_.tables[i].name == wanted) return i;
    fail(place, fmt::format("unknown table '{}'; expected one that is defined above", wanted));
  }

  // Parses create table NAME (COLUMN TYPE [primary key] [not null], …);
  void table() {
    need("table");
    Table t;
    const Place place = now().place;
    t.name = name("the name of a table");
    for (const Table& other : file_.tables)
      if (other.name == t.name) fail(place, fmt::format("a second table '{}'", t.name));
    if (std::find(std::begin(kTaken), std::end(kTaken), t.name) != std::end(kTaken))
      fail(place, fmt::format("the name '{}' is reserved for assay; expected another one", t.name));
    need("(");
    std::optional<size_t> key;
    listed([&] {
      if (take("primary")) return key_of_table(t, key);
      const Place where = now().place;
      Column c{.name = name("the name of a column")};
      for (const Column& other : t.columns)
        if (other.name == c.name) fail(where, fmt::format("a second column '{}'", c.name));
      if (t.columns.size() == kMostColumns)
        fail(where, fmt::format("expected at most {} columns", kMostColumns));
      c.type = type();
      t.columns.push_back(c);
      properties(t, key);
    });
    need(")");
    need(";");
    if (!key) fail(place, fmt::format("the table '{}' needs a primary key of one column", t.name));
    t.key = *key;
    t.columns[t.key].not_null = true;
    file_.tables.push_back(std::move(t));
  }
  void key_of_table(Table& t, std::optional<size_t>& key) {
    need("key");
    need("(");
    const Place place = now().place;
    if (key) fail(place, "a second primary key");
    key = column_named(t);
    if (now().is(",")) fail(now().place, "a primary key of several columns; expected one column");
    need(")");
  }
  void properties(Table& t, std::optional<size_t>& key) {
    while (!now().is(",") && !now().is(")")) {
      if (take("primary")) {
        if (key) fail(now().place, "a second primary key; expected one column");
        need("key");
        key = t.columns.size() - 1;
      } else if (take("not")) {
        need("null");
        t.columns.back().not_null = true;
      } else {
        expected(
            "primary key, not null, ',' or ')': defaults and other constraints are unsupported");
      }
    }
  }
  Type type() {
    for (const std::string_view integer : {"integer", "bigint", "int"})
      if (take(integer)) return Type::integer;
    if (take("text")) return Type::text;
    if (take("varchar")) {
      if (take("(")) {
        number("a length", kMostText);
        need(")");
      }
      return Type::text;
    }
    expected("one of the types integer, bigint, int, text, varchar");
  }

  // Parses create index [NAME] on TABLE (COLUMN, …);
  void index() {
    need("index");
    if (!now().is("on")) name("'on'");
    need("on");
    Table& t = file_.tables[table_named()];
    need("(");
    std::vector<size_t> columns;
    listed([&] { columns.push_back(column_named(t)); });
    need(")");
    need(";");
    t.indexes.push_back(std::move(columns));
  }

  // Parses fill TABLE with N rows (COLUMN = VALUE, …);
  void fill() {
    const Place place = now().place;
    Table& t = file_.tables[table_named()];
    if (!t.rows.empty()) fail(place, fmt::format("'{}' is already filled", t.name));
    need("with");
    const uint64_t count = number("the number of rows", kMostRows);
    if (!take("row")) need("rows");
    set_parameters({"row"}, {Type::integer});
    std::vector<std::pair<size_t, Expression>> values;
    need("(");
    listed([&] { values.push_back(assignment(t, false)); });
    need(")");
    need(";");
    std::vector<Value> keys;
    for (uint64_t i = 1; i <= count; ++i) {
      const Value number = Value::of(static_cast<int64_t>(i));
      std::vector<Value> row(t.columns.size());
      for (const auto& [column, expression] : values) {
        Result<Value> value = evaluate(expression, {&number, 1});
        if (!value.ok()) fail(place, value.error().message);
        row[column] = std::move(*value);
      }
      for (size_t c = 0; c < row.size(); ++c)
        if (row[c].is_null() && t.columns[c].not_null)
          fail(place,
               fmt::format("row {} has no '{}', which must not be null", i, t.columns[c].name));
      keys.push_back(row[t.key]);
      t.rows.push_back(std::move(row));
    }
    const auto before = [](const Value& a, const Value& b) {
      return compare(Comparison::less, a, b);
    };
    std::sort(keys.begin(), keys.end(), before);
    if (std::adjacent_find(keys.begin(), keys.end()) != keys.end())
      fail(place, fmt::format("two rows have the same '{}', which is the primary key",
                              t.columns[t.key].name));
  }

  // Parses transaction NAME [weight N]; ACTION; … end;
  void transaction() {
    Transaction t;
    const Place place = t.place = now().place;
    t.name = name("the name of a transaction");
    for (const Transaction& other : file_.transactions)
      if (other.name == t.name) fail(place, fmt::format("a second transaction '{}'", t.name));
    if (take("weight")) t.weight = number("a weight", kMostWeight);
    need(";");
    set_parameters({}, {});
    selected_ = nullptr;
    result_.reset();
    bool does_something = false;
    while (!take("end")) {
      t.actions.push_back(action());
      does_something = does_something || t.actions.back().kind == Action::Kind::statement;
    }
    need(";");
    if (!does_something)
      fail(place, fmt::format("the transaction '{}' has no statement; expected one", t.name));
    t.parameters = parameters();
    file_.transactions.push_back(std::move(t));
  }

  Action action() {
    Action s;
    s.place = now().place;
    if (take("let")) {
      let(s);
    } else if (take("require")) {
      s.kind = Action::Kind::require;
      MaybeType left, right;
      const Place place = now().place;
      s.values.push_back(expression(left));
      s.comparison = comparison();
      s.values.push_back(expression(right));
      if (left && right && *left != *right)
        fail(place, "an integer is compared with a text; expected two of the same type");
    } else {
      s.statement = statement();
    }
    need(";");
    return s;
  }

  void let(Action& s) {
    if (now().kind != Token::Kind::parameter) expected("a parameter, such as :id");
    const std::string wanted = any();
    MaybeType type;
    if (take("in")) {
      drawn(s, type);
    } else {
      need("=");
      value_of_let(s, type);
    }
    // The parameter may be used only from here on.
    if (!add_parameter(wanted, type, s.parameter))
      fail(s.place, fmt::format("':{}' was of another type before", wanted));
  }
  void drawn(Action& s, MaybeType& type) {
    if (take("(")) {
      s.kind = Action::Kind::choose;
      listed([&] {
        const Place place = now().place;
        MaybeType one;
        s.values.push_back(expression(one));
        if (!one || (type && *type != *one)) fail(place, "expected integers only, or texts only");
        type = one;
      });
      return need(")");
    }
    s.kind = Action::Kind::draw;
    type = Type::integer;
    s.values.push_back(bound());
    need("..");
    s.values.push_back(bound());
  }
  Expression bound() {
    const Place place = now().place;
    MaybeType type;
    Expression value = expression(type);
    if (type != Type::integer) fail(place, "expected an integer, as in 'let :id in 1..100'");
    return value;
  }
  void value_of_let(Action& s, MaybeType& type) {
    type = Type::integer;
    if (take("new")) {
      s.kind = Action::Kind::fresh;
    } else if (now().is("result") && !ahead().is("of")) {
      type = result_of_select();
      skip();
      s.kind = Action::Kind::result;
    } else if (now().is("count") && !ahead().is("of")) {
      rows_of_select();
      skip();
      s.kind = Action::Kind::count;
    } else if (now().kind == Token::Kind::word && ahead().is("of") && ahead(2).is("row")) {
      const Table& t = rows_of_select();
      s.kind = Action::Kind::take;
      s.column = column_named(t);
      type = t.columns[s.column].type;
      skip(2);
    } else if (now().kind == Token::Kind::word && ahead().is("of")) {
      aggregate(s, type);
    } else {
      s.kind = Action::Kind::compute;
      s.values.push_back(expression(type));
      if (!type) fail(s.place, "null has no type; expected another value");
    }
  }
  void aggregate(Action& s, MaybeType& type) {
    const Table& t = rows_of_select();
    s.kind = now().is("sum")   ? Action::Kind::sum
             : now().is("min") ? Action::Kind::least
             : now().is("max") ? Action::Kind::most
                               : Action::Kind::statement;
    if (s.kind == Action::Kind::statement)
      expected("sum, min or max of a selected column, or 'COLUMN of row'");
    skip(2);
    const Place place = now().place;
    s.column = column_named(t);
    type = t.columns[s.column].type;
    if (s.kind == Action::Kind::sum && type == Type::text)
      fail(place, "the sum of texts; expected a column of integers");
  }
  const Table& rows_of_select() const {
    if (selected_ == nullptr)
      fail(now().place, "nothing was selected yet; expected a select before");
    if (result_)
      fail(now().place, "the last select returned an aggregate and no rows; expected 'result'");
    return *selected_;
  }
  Type result_of_select() const {
    if (!result_)
      fail(now().place,
           "the last select returned no aggregate; expected one such as count(*) before");
    return *result_;
  }

  Statement statement() {
    Statement s;
    s.place = now().place;
    if (take("select"))
      select(s);
    else if (take("insert"))
      insert(s);
    else if (take("update"))
      update(s);
    else if (take("delete"))
      remove(s);
    else
      expected("select, insert, update, delete, let, require or end");
    if (!now().is(";")) clause_not_known();
    return s;
  }
  [[noreturn]] void clause_not_known() const {
    if (now().is("returning")) fail(now().place, "assay adds RETURNING itself; expected ';'");
    if (now().is("join") || now().is(","))
      fail(now().place, "a second table; expected statements on one table");
    if (now().is("group") || now().is("having"))
      fail(now().place, "groups are not recorded; expected ';'");
    expected("';'");
  }
  void where(Statement& s) {
    if (take("where")) s.where = condition(file_.tables[s.table]);
  }

  // Parses count(*), or sum, min or max of a column.
  void aggregate_of(Statement& s, const Table& t) {
    AggregateFunction function{};
    const Place place = now().place;
    if (!is_aggregate_name(now().text, function))
      fail(place,
           "a function that is not recorded; expected columns, *, count(*), or sum, min or "
           "max of a column");
    s.aggregate = function;
    skip();
    need("(");
    if (function == AggregateFunction::count) {
      if (!now().is("*"))
        expected("'*': rows are counted; add 'COLUMN is not null' to the condition");
      skip();
      result_ = Type::integer;
    } else {
      s.column = column_named(t);
      result_ = t.columns[s.column].type;
      if (result_ == Type::text && function == AggregateFunction::sum)
        fail(place, "the sum of texts; expected a column of integers");
    }
    need(")");
    if (!now().is("from")) expected("'from', because a select has one aggregate");
  }

  void select(Statement& s) {
    const size_t columns_at = at();
    const bool aggregates = now().kind == Token::Kind::word && ahead().is("(");
    // The columns belong to a table that is named only after them.
    while (!now().is("from")) {
      if (aggregates && (now().is("(") || now().is(")"))) {
        skip();
        continue;
      }
      if (ahead().is("(") && now().kind == Token::Kind::word && at() != columns_at)
        fail(now().place, "a function beside something else; expected one aggregate, or columns");
      if (now().kind != Token::Kind::word && !now().is(",") && !now().is("*"))
        expected("columns or *, then 'from'");
      skip();
    }
    skip();
    s.table = table_named();
    const Table& t = file_.tables[s.table];
    const size_t behind = at();
    go_to(columns_at);
    result_.reset();
    if (aggregates)
      aggregate_of(s, t);
    else if (!take("*"))
      listed([&] { column_named(t); });
    if (!now().is("from")) expected("',' or 'from'");
    go_to(behind);
    if (now().is(",") || now().is("join"))
      fail(now().place, "a second table; expected statements on one table");
    where(s);
    selected_ = &t;
    if (s.aggregate) {  // one row, which has no order and is not locked
      if (take("without")) {
        need("rows");
        s.without_rows = true;
      }
      return;
    }
    if (take("order")) {
      need("by");
      listed([&] {
        const size_t column = column_named(t);
        const bool descending = take("desc");
        if (!descending) take("asc");
        s.order.emplace_back(column, descending);
      });
    }
    if (take("limit")) s.limit.push_back(bound());
    if (take("for")) lock(s);
  }
  void lock(Statement& s) {
    if (take("update"))
      s.lock = Lock::update;
    else if (take("share"))
      s.lock = Lock::share;
    else
      expected("update or share");
    if (take("nowait")) s.locked = Locked::refuse;
    if (take("skip")) {
      need("locked");
      s.locked = Locked::skip;
    }
  }

  void insert(Statement& s) {
    s.kind = Statement::Kind::insert;
    need("into");
    s.table = table_named();
    const Table& t = file_.tables[s.table];
    need("(");
    listed([&] {
      const Place place = now().place;
      const size_t column = column_named(t);
      for (const auto& [other, value] : s.values)
        if (other == column) fail(place, "a column for the second time");
      s.values.emplace_back(column, Expression{});
    });
    need(")");
    if (now().is("select")) fail(now().place, "a query inside a statement; expected 'values'");
    need("values");
    need("(");
    size_t at = 0;
    listed([&] {
      if (at == s.values.size()) fail(now().place, "more values than columns");
      s.values[at].second = typed(t.columns[s.values[at].first]);
      ++at;
    });
    if (at < s.values.size()) expected("a value for each column");
    need(")");
    if (now().is(",")) fail(now().place, "a second row; expected one row in each insert");
    if (now().is("on")) fail(now().place, "ON CONFLICT is not supported; expected ';'");
    for (size_t c = 0; c < t.columns.size(); ++c)
      if (t.columns[c].not_null && std::none_of(s.values.begin(), s.values.end(),
                                                [&](const auto& v) { return v.first == c; }))
        fail(s.place,
             fmt::format("no value for '{0}', which must not be null{1}", t.columns[c].name,
                         c == t.key ? "; 'let :P = new' makes one" : ""));
  }

  void update(Statement& s) {
    s.kind = Statement::Kind::update;
    s.table = table_named();
    const Table& t = file_.tables[s.table];
    need("set");
    listed([&] {
      const Place place = now().place;
      s.values.push_back(assignment(t, true));
      if (s.values.back().first == t.key)
        fail(place, "the primary key identifies the row; expected a delete and an insert");
      for (size_t i = 0; i + 1 < s.values.size(); ++i)
        if (s.values[i].first == s.values.back().first) fail(place, "a column for the second time");
    });
    if (now().is("from")) fail(now().place, "a second table; expected 'where'");
    where(s);
  }

  void remove(Statement& s) {
    s.kind = Statement::Kind::remove;
    need("from");
    s.table = table_named();
    where(s);
  }

  File file_;
  const Table* selected_ = nullptr;  // of the last select of the transaction that is being parsed
  std::optional<Type> result_;       // type of the aggregate that it returned
};

}  // namespace

Result<File> parse_file(std::string_view text, std::string path) {
  const auto at_path = [&](Error error) {
    error.file = path;
    return error;
  };
  if (!formats::is_utf8(text)) return at_path(bad_input("not UTF-8; expected texts in UTF-8"));
  Result<std::vector<Token>> tokens = tokens_of(text);
  if (!tokens.ok()) return at_path(tokens.error());
  try {
    return Parser(std::move(*tokens), path).run();
  } catch (const Fault& fault) {
    return at_path(fault.error);
  }
}

Result<File> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf())) return io_error("cannot read the file of SQL", path);
  return parse_file(text.str(), path);
}

}  // namespace assay::internal::collect::sql
