#include "collect/sql/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace assay::internal::collect::sql {
namespace {

constexpr int kMostDepth = 50;

std::string_view name_of(Type type) { return type == Type::integer ? "an integer" : "a text"; }

Where negated(Where inner) {
  Where whole{.kind = Condition::Kind::negation};
  whole.parts.push_back(std::move(inner));
  return whole;
}

// Parses parts separated by this word.
template <class Part>
Where joined(Cursor& words, std::string_view word, Condition::Kind kind, Part part) {
  Where whole{.kind = kind};
  whole.parts.push_back(part());
  while (words.take(word)) whole.parts.push_back(part());
  if (whole.parts.size() > 1) return whole;
  Where only = std::move(whole.parts[0]);
  return only;
}

}  // namespace

// Limits the depth of the recursion.
struct Values::Deeper {
  explicit Deeper(Values& v) : values(v) {
    if (++values.depth_ > kMostDepth)
      fail(v.now().place, fmt::format("expected at most {} nested brackets", kMostDepth));
  }
  ~Deeper() { --values.depth_; }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;
  Values& values;
};

// COLUMN = VALUE, of the right type.
std::pair<size_t, Expression> Values::assignment(const Table& t, bool of_row) {
  const size_t column = column_named(t);
  need("=");
  row_ = of_row ? &t : nullptr;
  Expression value = typed(t.columns[column]);
  row_ = nullptr;
  return {column, std::move(value)};
}

Expression Values::typed(const Column& column) {
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
Expression Values::expression(MaybeType& type) {
  Expression left = product(type);
  while (now().is("+") || now().is("-")) {
    const auto kind = now().is("+") ? Expression::Kind::add : Expression::Kind::subtract;
    left = operation(kind, std::move(left), type, &Values::product);
  }
  if (now().is("|")) fail(now().place, "texts cannot be concatenated here; expected a whole text");
  return left;
}

Expression Values::product(MaybeType& type) {
  Expression left = factor(type);
  while (now().is("*") || now().is("%") || now().is("/")) {
    if (now().is("/")) fail(now().place, "databases divide differently; expected + - * or %");
    const auto kind = now().is("*") ? Expression::Kind::multiply : Expression::Kind::modulo;
    left = operation(kind, std::move(left), type, &Values::factor);
  }
  return left;
}

Expression Values::operation(Expression::Kind kind, Expression left, MaybeType& type,
                             Expression (Values::*operand)(MaybeType&)) {
  if (type == Type::text) fail(now().place, "arithmetic with a text; expected integers");
  skip();
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

Expression Values::factor(MaybeType& type) {
  const Token& token = now();
  if (token.kind == Token::Kind::integer) {
    type = Type::integer;
    return {.constant = Value::of(integer("an integer"))};
  }
  if (token.kind == Token::Kind::text) {
    if (token.text.size() > kMostText)
      fail(token.place, fmt::format("expected at most {} bytes of text", kMostText));
    type = Type::text;
    skip();
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
  if (token.is("new"))
    expected(
        "an integer, a text or a parameter; write 'let :n = new;' before the statement, and :n "
        "here");
  if (token.kind == Token::Kind::word)
    expected(
        "an integer, a text or a parameter; a column is allowed only on the left of a comparison");
  expected("an integer, a text or a parameter");
}

Expression Values::parameter(MaybeType& type) {
  const Token& token = now();
  for (size_t i = 0; i < parameters_.size(); ++i)
    if (parameters_[i] == token.text) {
      skip();
      type = types_[i];
      return {.kind = Expression::Kind::parameter, .index = i};
    }
  fail(token.place,
       fmt::format("no parameter ':{0}' yet; expected 'let :{0} …' before", token.text));
}

// CONDITION: and binds closer than or.
Where Values::condition(const Table& t) {
  return joined(*this, "or", Condition::Kind::any, [&] {
    return joined(*this, "and", Condition::Kind::all, [&] { return negation(t); });
  });
}

Where Values::negation(const Table& t) {
  const Deeper deeper(*this);
  if (take("not")) return negated(negation(t));
  if (take("(")) {
    Where inner = condition(t);
    need(")");
    return inner;
  }
  return comparison_with(t);
}

Where Values::comparison_with(const Table& t) {
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

Where Values::compared_by_sign(Where w, const Column& column) {
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

Expression Values::compared(Column column) {
  if (now().is("("))
    if (ahead().is("select")) fail(ahead().place, "a query inside a query; expected a value");
  column.not_null = false;
  return typed(column);
}

Comparison Values::comparison() {
  if (take("=")) return Comparison::equal;
  if (take("<>") || take("!=")) return Comparison::not_equal;
  if (take("<=")) return Comparison::at_most;
  if (take(">=")) return Comparison::at_least;
  if (take("<")) return Comparison::less;
  if (take(">")) return Comparison::more;
  expected("a comparison: = <> < <= > >=, and after 'where' also 'between', 'in' or 'is null'");
}

void Values::set_parameters(std::vector<std::string> names, std::vector<MaybeType> types) {
  parameters_ = std::move(names);
  types_ = std::move(types);
}

bool Values::add_parameter(const std::string& name, MaybeType type, size_t& number) {
  const auto known = std::find(parameters_.begin(), parameters_.end(), name);
  number = static_cast<size_t>(known - parameters_.begin());
  if (known != parameters_.end()) return types_[number] == type;
  parameters_.push_back(name);
  types_.push_back(type);
  return true;
}

}  // namespace assay::internal::collect::sql
