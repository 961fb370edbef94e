#include "collect/sql/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>

#include "collect/sql/expression.h"
#include "collect/sql/lexer.h"
#include "formats/utf8.h"

namespace assay::internal::collect::sql {
namespace {

constexpr uint64_t kMostRows = 10'000;
constexpr uint64_t kMostWeight = 1'000'000;
constexpr size_t kMostColumns = 64;
constexpr size_t kMostText = 1000;  // bytes, as columns of texts are declared
constexpr int kMostDepth = 50;
// Tables of assay's own.
constexpr std::string_view kTaken[] = {"kv", "list", "run", "log"};

// Thrown inside the parser only, since nearly every line of it can fail.
struct Fault {
  Error error;
};
[[noreturn]] void fail(const Place& place, std::string message) {
  throw Fault{bad_input(std::move(message), place.line, place.column)};
}

std::string_view name_of(Type type) { return type == Type::integer ? "an integer" : "a text"; }

// The type of a value; none of null.
using MaybeType = std::optional<Type>;

class Parser {
 public:
  Parser(std::vector<Token> tokens, std::string path) : tokens_(std::move(tokens)) {
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
  // What is at hand.
  const Token& now() const { return tokens_[at_]; }
  const Token& ahead(size_t n = 1) const { return tokens_[std::min(at_ + n, tokens_.size() - 1)]; }
  [[noreturn]] void expected(std::string_view what) const {
    fail(now().place, fmt::format("{}; expected {}", now().shown(), what));
  }
  bool take(std::string_view word) {
    if (!now().is(word)) return false;
    ++at_;
    return true;
  }
  void need(std::string_view word) {
    if (!take(word)) expected("'" + std::string(word) + "'");
  }
  std::string name(std::string_view what) {
    if (now().kind != Token::Kind::word) expected(what);
    if (now().text.starts_with("assay") || now().text == kWrittenBy)
      fail(now().place,
           fmt::format("the name '{}' is kept for assay; expected another one", now().text));
    return tokens_[at_++].text;
  }
  int64_t integer(std::string_view what) {
    const bool negative = take("-");
    if (now().kind != Token::Kind::integer) expected(what);
    const std::string digits = (negative ? "-" : "") + now().text;
    int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc()) fail(now().place, "no 64-bit integer; expected a smaller number");
    ++at_;
    return value;
  }
  uint64_t number(std::string_view what, uint64_t most) {
    const Place place = now().place;
    const int64_t value = integer(what);
    if (value < 1 || static_cast<uint64_t>(value) > most)
      fail(place, fmt::format("{} is out of range; expected 1 to {}", value, most));
    return static_cast<uint64_t>(value);
  }

  // Names of the file.
  size_t table_named() {
    const Place place = now().place;
    const std::string wanted = name("the name of a table");
    for (size_t i = 0; i < file_.tables.size(); ++i)
      if (file_.tables[i].name == wanted) return i;
    fail(place, fmt::format("no table '{}'; expected one that stands further up", wanted));
  }
  size_t column_named(const Table& table) {
    const Place place = now().place;
    const std::string wanted = name("the name of a column");
    for (size_t i = 0; i < table.columns.size(); ++i)
      if (table.columns[i].name == wanted) return i;
    std::string names;
    for (const Column& c : table.columns) names += (names.empty() ? "" : ", ") + c.name;
    fail(place,
         fmt::format("'{}' has no column '{}'; expected one of {}", table.name, wanted, names));
  }
  template <class Item>
  void listed(Item item) {
    do item();
    while (take(","));
  }

  // create table NAME (COLUMN TYPE [primary key] [not null], …);
  void table() {
    need("table");
    Table t;
    const Place place = now().place;
    t.name = name("the name of a table");
    for (const Table& other : file_.tables)
      if (other.name == t.name) fail(place, fmt::format("a second table '{}'", t.name));
    if (std::find(std::begin(kTaken), std::end(kTaken), t.name) != std::end(kTaken))
      fail(place, fmt::format("the name '{}' is kept for assay; expected another one", t.name));
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
        expected("primary key, not null, ',' or ')': defaults and other constraints are not known");
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

  // create index [NAME] on TABLE (COLUMN, …);
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

  // fill TABLE with N rows (COLUMN = VALUE, …);
  void fill() {
    const Place place = now().place;
    Table& t = file_.tables[table_named()];
    if (!t.rows.empty()) fail(place, fmt::format("'{}' is filled already", t.name));
    need("with");
    const uint64_t count = number("the number of rows", kMostRows);
    if (!take("row")) need("rows");
    parameters_ = {"row"};
    types_ = {Type::integer};
    row_ = nullptr;
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

  // COLUMN = VALUE, of the right type.
  std::pair<size_t, Expression> assignment(const Table& t, bool of_row) {
    const size_t column = column_named(t);
    need("=");
    row_ = of_row ? &t : nullptr;
    Expression value = typed(t.columns[column]);
    row_ = nullptr;
    return {column, std::move(value)};
  }
  Expression typed(const Column& column) {
    const Place place = now().place;
    MaybeType type;
    Expression value = expression(type);
    if (type && *type != column.type)
      fail(place, fmt::format("{} for the column '{}'; expected {}", name_of(*type), column.name,
                              name_of(column.type)));
    if (!type && column.not_null)
      fail(place, fmt::format("null for the column '{}', which is not null", column.name));
    return value;
  }

  // VALUE: a sum of products of constants, parameters, brackets and, in an update, columns.
  Expression expression(MaybeType& type) {
    Expression left = product(type);
    while (now().is("+") || now().is("-")) {
      const auto kind = now().is("+") ? Expression::Kind::add : Expression::Kind::subtract;
      left = operation(kind, std::move(left), type, &Parser::product);
    }
    if (now().is("|")) fail(now().place, "texts are not joined here; expected a whole text");
    return left;
  }
  Expression product(MaybeType& type) {
    Expression left = factor(type);
    while (now().is("*") || now().is("%") || now().is("/")) {
      if (now().is("/")) fail(now().place, "databases divide differently; expected + - * or %");
      const auto kind = now().is("*") ? Expression::Kind::multiply : Expression::Kind::modulo;
      left = operation(kind, std::move(left), type, &Parser::factor);
    }
    return left;
  }
  Expression operation(Expression::Kind kind, Expression left, MaybeType& type,
                       Expression (Parser::*operand)(MaybeType&)) {
    if (type == Type::text) fail(now().place, "arithmetic with a text; expected integers");
    ++at_;
    const Place place = now().place;
    MaybeType right_type;
    Expression right = (this->*operand)(right_type);
    if (right_type == Type::text) fail(place, "arithmetic with a text; expected integers");
    type = Type::integer;
    Expression whole{.kind = kind};
    whole.parts.push_back(std::move(left));
    whole.parts.push_back(std::move(right));
    return whole;
  }
  Expression factor(MaybeType& type) {
    const Token& token = now();
    if (token.kind == Token::Kind::integer) {
      type = Type::integer;
      return {.constant = Value::of(integer("an integer"))};
    }
    if (token.kind == Token::Kind::text) {
      if (token.text.size() > kMostText)
        fail(token.place, fmt::format("expected at most {} bytes of text", kMostText));
      type = Type::text;
      ++at_;
      return {.constant = Value::of(token.text)};
    }
    if (take("null")) {
      type.reset();
      return {};
    }
    if (token.kind == Token::Kind::parameter) return parameter(type);
    if (now().is("-") && ahead().kind == Token::Kind::integer) {
      type = Type::integer;
      return {.constant = Value::of(integer("an integer"))};
    }
    if (take("-")) {
      Expression whole{.kind = Expression::Kind::negate};
      const Deeper deeper(*this);
      whole.parts.push_back(factor(type));
      if (type == Type::text) fail(token.place, "arithmetic with a text; expected integers");
      return whole;
    }
    if (take("(")) {
      const Deeper deeper(*this);
      Expression whole = expression(type);
      need(")");
      return whole;
    }
    if (token.kind == Token::Kind::word && row_ != nullptr) {
      if (ahead().is("(")) fail(token.place, "a function; expected columns, values and + - * %");
      const size_t column = column_named(*row_);
      type = row_->columns[column].type;
      return {.kind = Expression::Kind::column, .index = column};
    }
    if (token.kind == Token::Kind::word)
      expected("an integer, a text or a parameter; columns stand on the left of a comparison");
    expected("an integer, a text or a parameter");
  }
  Expression parameter(MaybeType& type) {
    const Token& token = tokens_[at_];
    for (size_t i = 0; i < parameters_.size(); ++i)
      if (parameters_[i] == token.text) {
        ++at_;
        type = types_[i];
        return {.kind = Expression::Kind::parameter, .index = i};
      }
    fail(token.place,
         fmt::format("no parameter ':{0}' yet; expected 'let :{0} …' before", token.text));
  }

  // Nothing recurses deeper than this.
  struct Deeper {
    explicit Deeper(Parser& p) : parser(p) {
      if (++parser.depth_ > kMostDepth)
        fail(p.now().place, fmt::format("expected at most {} brackets in each other", kMostDepth));
    }
    ~Deeper() { --parser.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    Parser& parser;
  };

  // CONDITION: and binds closer than or.
  Where condition(const Table& t) {
    return joined(t, "or", Condition::Kind::any, [&] {
      return joined(t, "and", Condition::Kind::all, [&] { return negation(t); });
    });
  }
  template <class Part>
  Where joined(const Table&, std::string_view word, Condition::Kind kind, Part part) {
    Where whole{.kind = kind};
    whole.parts.push_back(part());
    while (take(word)) whole.parts.push_back(part());
    if (whole.parts.size() > 1) return whole;
    Where only = std::move(whole.parts[0]);
    return only;
  }
  Where negation(const Table& t) {
    const Deeper deeper(*this);
    if (take("not")) return negated(negation(t));
    if (take("(")) {
      Where inner = condition(t);
      need(")");
      return inner;
    }
    return comparison_with(t);
  }
  static Where negated(Where inner) {
    Where whole{.kind = Condition::Kind::negation};
    whole.parts.push_back(std::move(inner));
    return whole;
  }
  Where comparison_with(const Table& t) {
    if (now().is("exists")) fail(now().place, "a query inside a query; expected a comparison");
    if (now().kind != Token::Kind::word)
      expected("a column: conditions compare a column with a value");
    if (ahead().is("("))
      fail(now().place, "a function; expected a column: conditions compare a column with a value");
    Where w{.column = column_named(t)};
    const Column& column = t.columns[w.column];
    if (take("is")) {
      const bool negative = take("not");
      need("null");
      w.kind = Condition::Kind::is_null;
      return negative ? negated(std::move(w)) : w;
    }
    const bool negative = take("not");
    if (take("between")) {
      w.kind = Condition::Kind::between;
      w.values.push_back(compared(column));
      need("and");
      w.values.push_back(compared(column));
    } else if (take("in")) {
      w.kind = Condition::Kind::in;
      need("(");
      if (now().is("select")) fail(now().place, "a query inside a query; expected values");
      listed([&] { w.values.push_back(compared(column)); });
      need(")");
    } else if (now().is("like")) {
      fail(now().place,
           "databases differ in what LIKE matches; expected a comparison, BETWEEN or IN");
    } else if (negative) {
      expected("between or in");
    } else {
      return compared_by_sign(std::move(w), column);
    }
    return negative ? negated(std::move(w)) : w;
  }
  Where compared_by_sign(Where w, const Column& column) {
    const Comparison sign = comparison();
    w.values.push_back(compared(column));
    switch (sign) {
      case Comparison::equal:
        w.kind = Condition::Kind::equal;
        return w;
      case Comparison::not_equal:
        w.kind = Condition::Kind::equal;
        return negated(std::move(w));
      case Comparison::less:
        w.kind = Condition::Kind::less;
        return w;
      case Comparison::at_least:
        w.kind = Condition::Kind::less;
        return negated(std::move(w));
      case Comparison::at_most:
        w.kind = Condition::Kind::at_most;
        return w;
      case Comparison::more:
        w.kind = Condition::Kind::at_most;
        return negated(std::move(w));
    }
    return w;
  }
  Expression compared(Column column) {
    if (now().is("("))
      if (ahead().is("select")) fail(ahead().place, "a query inside a query; expected a value");
    column.not_null = false;
    return typed(column);
  }
  Comparison comparison() {
    if (take("=")) return Comparison::equal;
    if (take("<>") || take("!=")) return Comparison::not_equal;
    if (take("<=")) return Comparison::at_most;
    if (take(">=")) return Comparison::at_least;
    if (take("<")) return Comparison::less;
    if (take(">")) return Comparison::more;
    expected("a comparison: = <> < <= > >=, in where also between, in or is null");
  }

  // transaction NAME [weight N]; ACTION; … end;
  void transaction() {
    Transaction t;
    const Place place = now().place;
    t.name = name("the name of a transaction");
    for (const Transaction& other : file_.transactions)
      if (other.name == t.name) fail(place, fmt::format("a second transaction '{}'", t.name));
    if (take("weight")) t.weight = number("a weight", kMostWeight);
    need(";");
    parameters_.clear();
    types_.clear();
    selected_ = nullptr;
    bool does_something = false;
    while (!take("end")) {
      t.actions.push_back(action());
      does_something = does_something || t.actions.back().kind == Action::Kind::statement;
    }
    need(";");
    if (!does_something)
      fail(place, fmt::format("the transaction '{}' has no statement; expected one", t.name));
    t.parameters = parameters_;
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
        fail(place, "an integer is compared with a text; expected two of one kind");
    } else {
      s.statement = statement();
    }
    need(";");
    return s;
  }

  void let(Action& s) {
    if (now().kind != Token::Kind::parameter) expected("a parameter, such as :id");
    const std::string wanted = tokens_[at_++].text;
    MaybeType type;
    if (take("in")) {
      drawn(s, type);
    } else {
      need("=");
      value_of_let(s, type);
    }
    // Only from here on it may be used.
    const auto known = std::find(parameters_.begin(), parameters_.end(), wanted);
    s.parameter = static_cast<size_t>(known - parameters_.begin());
    if (known == parameters_.end()) {
      parameters_.push_back(wanted);
      types_.push_back(type);
    } else if (types_[s.parameter] != type) {
      fail(s.place, fmt::format("':{}' was of another type before", wanted));
    }
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
    } else if (now().is("count") && !ahead().is("of")) {
      rows_of_select();
      ++at_;
      s.kind = Action::Kind::count;
    } else if (now().kind == Token::Kind::word && ahead().is("of") && ahead(2).is("row")) {
      const Table& t = rows_of_select();
      s.kind = Action::Kind::take;
      s.column = column_named(t);
      type = t.columns[s.column].type;
      at_ += 2;
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
      expected("sum, min or max of a column of what was selected, or 'COLUMN of row'");
    at_ += 2;
    const Place place = now().place;
    s.column = column_named(t);
    type = t.columns[s.column].type;
    if (s.kind == Action::Kind::sum && type == Type::text)
      fail(place, "the sum of texts; expected a column of integers");
  }
  const Table& rows_of_select() const {
    if (selected_ == nullptr)
      fail(now().place, "nothing was selected yet; expected a select before");
    return *selected_;
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

  void select(Statement& s) {
    const size_t columns_at = at_;
    // The columns belong to a table that is named only behind them.
    while (!now().is("from")) {
      if (ahead().is("(") && now().kind == Token::Kind::word)
        fail(now().place,
             "what a database counts or adds up is not recorded; expected columns or *: select the "
             "rows, then 'let :n = count;' or 'let :n = sum of COLUMN;'");
      if (now().kind != Token::Kind::word && !now().is(",") && !now().is("*"))
        expected("columns or *, then 'from'");
      ++at_;
    }
    ++at_;
    s.table = table_named();
    const Table& t = file_.tables[s.table];
    const size_t behind = at_;
    at_ = columns_at;
    if (!take("*")) listed([&] { column_named(t); });
    if (!now().is("from")) expected("',' or 'from'");
    at_ = behind;
    if (now().is(",") || now().is("join"))
      fail(now().place, "a second table; expected statements on one table");
    where(s);
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
    selected_ = &t;
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
    if (now().is("on")) fail(now().place, "ON CONFLICT is not known; expected ';'");
    for (size_t c = 0; c < t.columns.size(); ++c)
      if (t.columns[c].not_null && std::none_of(s.values.begin(), s.values.end(),
                                                [&](const auto& v) { return v.first == c; }))
        fail(s.place, fmt::format("no value for '{}', which must not be null", t.columns[c].name));
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
        fail(place, "the primary key says which row it is; expected a delete and an insert");
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

  std::vector<Token> tokens_;
  size_t at_ = 0;
  File file_;
  // Of the transaction that is read.
  std::vector<std::string> parameters_;
  std::vector<MaybeType> types_;
  const Table* row_ = nullptr;  // whose columns may stand in an expression
  const Table* selected_ = nullptr;
  int depth_ = 0;
};

}  // namespace

Result<File> parse_file(std::string_view text, std::string path) {
  const auto at_path = [&](Error error) {
    error.file = path;
    return error;
  };
  if (!formats::is_utf8(text)) return at_path(bad_input("no UTF-8; expected texts in UTF-8"));
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
