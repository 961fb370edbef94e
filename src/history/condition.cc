#include "history/condition.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace assay::internal {
namespace {

constexpr int kMaxDepth = 64;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

constexpr std::string_view kWords[] = {"and", "or", "not", "between", "in", "like", "is", "null"};

bool is_plain_name(std::string_view name) {
  return !name.empty() && is_letter(name[0]) && std::all_of(name.begin(), name.end(), [](char c) {
    return is_letter(c) || is_digit(c);
  }) && std::find(std::begin(kWords), std::end(kWords), name) == std::end(kWords);
}

std::string in_quotes(std::string_view text, char quote) {
  std::string out(1, quote);
  for (const char c : text) {
    if (c == quote) out += quote;
    out += c;
  }
  return out += quote;
}

std::string constant_text(const Cell& cell) {
  if (cell.type == Cell::Type::integer) return std::to_string(cell.integer);
  return cell.type == Cell::Type::string ? in_quotes(cell.text, '\'') : "null";
}

// --- comparing

constexpr Truth kYes{Truth::kTrue}, kNo{Truth::kFalse}, kUnknown{Truth::kNull},
    kOpen{Truth::kTrue | Truth::kFalse | Truth::kNull};

Truth truth(bool value) { return value ? kYes : kNo; }

// Compares two cells if they can be compared.
template <class Compare>
Truth compare(const Cell& a, const Cell& b, Compare holds) {
  if (a.type == Cell::Type::null || b.type == Cell::Type::null) return kUnknown;
  if (a.type != b.type || a.type == Cell::Type::other) return kOpen;
  return truth(a.type == Cell::Type::integer ? holds(a.integer, b.integer) : holds(a.text, b.text));
}

Truth equal(const Cell& a, const Cell& b) {
  return compare(a, b, [](const auto& x, const auto& y) { return x == y; });
}
Truth less(const Cell& a, const Cell& b) {
  return compare(a, b, [](const auto& x, const auto& y) { return x < y; });
}

// `%` matches any text, `_` one character.
bool is_like(std::string_view text, std::string_view pattern) {
  std::optional<size_t> star;  // in the pattern, after the last %
  size_t resume = 0, at = 0, p = 0;
  while (at < text.size()) {
    if (p < pattern.size() && pattern[p] == '%') {
      star = ++p;
      resume = at;
    } else if (p < pattern.size() && (pattern[p] == '_' || pattern[p] == text[at])) {
      ++p;
      ++at;
    } else if (star) {
      p = *star;
      at = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('%', p) == pattern.npos;
}

// Databases differ about a character of several bytes, and about a backslash.
bool is_plain_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80 && c != '\\'; });
}

Truth like(const Cell& cell, const Cell& pattern) {
  if (cell.type == Cell::Type::null) return kUnknown;
  if (cell.type != Cell::Type::string || !is_plain_ascii(cell.text) ||
      !is_plain_ascii(pattern.text))
    return kOpen;
  return truth(is_like(cell.text, pattern.text));
}

// --- reading

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Condition> run() {
    Condition condition;
    skip_blanks();
    if (at_ == text_.size()) return condition;  // no condition: every row satisfies it
    if (!disjunction(condition, 0)) return *error_;
    if (at_ != text_.size()) {
      expected("'and', 'or' or the end of the condition");
      return *error_;
    }
    return condition;
  }

 private:
  // All functions below return false after storing an error.
  bool expected(std::string_view what) {
    if (!error_) {
      error_ = bad_input("expected " + std::string(what) + " in the condition");
      error_->column = at_ + 1;
    }
    return false;
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  bool accept(std::string_view symbol) {
    if (!text_.substr(at_).starts_with(symbol)) return false;
    at_ += symbol.size();
    skip_blanks();
    return true;
  }

  std::string_view word_here() const {
    size_t end = at_;
    if (end < text_.size() && is_letter(text_[end]))
      while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
    return text_.substr(at_, end - at_);
  }

  bool accept_word(std::string_view word) {
    const std::string_view here = word_here();
    if (!std::equal(here.begin(), here.end(), word.begin(), word.end(),
                    [](char a, char b) { return lower(a) == b; }))
      return false;
    at_ += word.size();
    skip_blanks();
    return true;
  }

  bool joined(Condition& to, Condition::Kind kind, std::string_view word, int depth) {
    const auto part = [&](Condition& c) {
      return kind == Condition::Kind::any ? joined(c, Condition::Kind::all, "and", depth)
                                          : negation(c, depth);
    };
    Condition first;
    if (!part(first)) return false;
    if (!accept_word(word)) return to = std::move(first), true;
    to.kind = kind;
    to.parts.push_back(std::move(first));
    do {
      if (!part(to.parts.emplace_back())) return false;
    } while (accept_word(word));
    return true;
  }
  bool disjunction(Condition& to, int depth) {
    return joined(to, Condition::Kind::any, "or", depth);
  }

  bool negation(Condition& to, int depth) {
    if (depth > kMaxDepth) return expected("a condition nested at most 64 deep");
    if (accept_word("not")) {
      to.kind = Condition::Kind::negation;
      return negation(to.parts.emplace_back(), depth + 1);
    }
    if (accept("(")) return disjunction(to, depth + 1) && (accept(")") || expected("')'"));
    return comparison(to);
  }

  bool comparison(Condition& to) {
    if (!column(to.column)) return false;
    if (accept_word("is")) {
      const bool negated = accept_word("not");
      if (!accept_word("null")) return expected("'null' or 'not null'");
      to.kind = Condition::Kind::is_null;
      if (negated) negate(to);
      return true;
    }
    const bool negated = accept_word("not");
    if (accept_word("between")) {
      to.kind = Condition::Kind::between;
      if (!constant(to) || !(accept_word("and") || expected("'and'")) || !constant(to))
        return false;
    } else if (accept_word("in")) {
      to.kind = Condition::Kind::in;
      if (!constants(to)) return false;
    } else if (accept_word("like")) {
      to.kind = Condition::Kind::like;
      if (!constant(to)) return false;
      if (to.constants[0].type != Cell::Type::string) return expected("a string after 'like'");
    } else if (negated) {
      return expected("'between', 'in' or 'like'");
    } else {
      return compared(to);
    }
    if (negated) negate(to);
    return true;
  }

  bool compared(Condition& to) {
    struct Symbol {
      std::string_view text;
      Condition::Kind kind;
      bool negated;
    };
    static constexpr Symbol kSymbols[] = {
        {"<>", Condition::Kind::equal, true},    {"!=", Condition::Kind::equal, true},
        {"<=", Condition::Kind::at_most, false}, {">=", Condition::Kind::less, true},
        {"<", Condition::Kind::less, false},     {">", Condition::Kind::at_most, true},
        {"=", Condition::Kind::equal, false}};
    for (const Symbol& symbol : kSymbols) {
      if (!accept(symbol.text)) continue;
      to.kind = symbol.kind;
      if (!constant(to)) return false;
      if (symbol.negated) negate(to);
      return true;
    }
    return expected("one of = != < <= > >= between, in, like, is");
  }

  static void negate(Condition& condition) {
    Condition inner = std::exchange(condition, {});
    condition.kind = Condition::Kind::negation;
    condition.parts.push_back(std::move(inner));
  }

  bool column(std::string& to) {
    if (at_ < text_.size() && text_[at_] == '"') return quoted_text(to, '"');
    const std::string_view word = word_here();
    std::string small(word);
    std::transform(small.begin(), small.end(), small.begin(), lower);
    if (word.empty() || std::find(std::begin(kWords), std::end(kWords), small) != std::end(kWords))
      return expected("the name of a column");
    to = word;
    at_ += word.size();
    skip_blanks();
    return true;
  }

  bool quoted_text(std::string& to, char quote) {
    const size_t begin = at_++;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == quote) {
        if (at_ + 1 == text_.size() || text_[at_ + 1] != quote) break;
        ++at_;
      }
      to += text_[at_];
    }
    if (at_ == text_.size()) {
      at_ = begin;
      return expected("a closing quote for the text that begins here");
    }
    ++at_;
    skip_blanks();
    return true;
  }

  bool constant(Condition& to) {
    Cell cell;
    if (at_ < text_.size() && text_[at_] == '\'') {
      cell.type = Cell::Type::string;
      if (!quoted_text(cell.text, '\'')) return false;
    } else if (!accept_word("null")) {
      const char* end = text_.data() + text_.size();
      const auto [rest, error] = std::from_chars(text_.data() + at_, end, cell.integer);
      if (error != std::errc{} || (rest != end && (is_letter(*rest) || *rest == '.')))
        return expected("an integer of 64 bits, a 'text' or null");
      cell.type = Cell::Type::integer;
      at_ = static_cast<size_t>(rest - text_.data());
      skip_blanks();
    }
    to.constants.push_back(std::move(cell));
    return true;
  }

  bool constants(Condition& to) {
    if (!accept("(")) return expected("'('");
    do {
      if (!constant(to)) return false;
    } while (accept(","));
    return accept(")") || expected("',' or ')'");
  }

  std::string_view text_;
  size_t at_ = 0;
  std::optional<Error> error_;
};

// --- rows as JSON

void append_json(std::string& out, std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      (out += '\\') += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      (((out += "\\u00") += kHex[c >> 4])) += kHex[c & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

// Takes the JSON string, written by append_json, that begins at `at`.
std::string take_json(std::string_view text, size_t& at) {
  const auto digit = [](char c) { return is_digit(c) ? c - '0' : c - 'a' + 10; };
  std::string out;
  for (++at; text[at] != '"'; ++at) {
    if (text[at] != '\\') {
      out += text[at];
    } else if (text[++at] == 'u') {
      out += static_cast<char>(digit(text[at + 3]) << 4 | digit(text[at + 4]));
      at += 4;
    } else {
      out += text[at];
    }
  }
  ++at;
  return out;
}

// The end of the JSON value that begins at `at`.
size_t end_of_json(std::string_view text, size_t at) {
  int depth = 0;
  bool in_string = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string) {
      if (c == '\\') ++at;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (depth == 0 && (c == ',' || c == '}')) {
      break;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return at;
}

Cell take_cell(std::string_view text, size_t& at) {
  if (text[at] == '"') return {Cell::Type::string, 0, take_json(text, at)};
  const std::string_view raw = text.substr(at, end_of_json(text, at) - at);
  at += raw.size();
  if (raw == "null") return {};
  Cell cell{Cell::Type::integer, 0, {}};
  const auto [rest, error] = std::from_chars(raw.data(), raw.data() + raw.size(), cell.integer);
  if (error == std::errc{} && rest == raw.data() + raw.size()) return cell;
  return {Cell::Type::other, 0, std::string(raw)};
}

}  // namespace

std::string row_text(Row row) {
  std::sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string out = "{";
  for (const auto& [name, cell] : row) {
    if (out.size() > 1) out += ',';
    append_json(out, name);
    out += ':';
    switch (cell.type) {
      case Cell::Type::null:
        out += "null";
        break;
      case Cell::Type::integer:
        out += std::to_string(cell.integer);
        break;
      case Cell::Type::string:
        append_json(out, cell.text);
        break;
      case Cell::Type::other:
        out += cell.text;
        break;
    }
  }
  return out += '}';
}

Row row_of(const ValueView& value) {
  if (value.type == ValueView::Type::integer)
    return {{"value", {Cell::Type::integer, value.integer, {}}}};
  if (value.type == ValueView::Type::string)
    return {{"value", {Cell::Type::string, 0, std::string(value.text)}}};
  Row row;
  for (size_t at = 1; at < value.text.size() && value.text[at] == '"'; ++at) {
    std::string name = take_json(value.text, at);
    ++at;  // the colon
    row.emplace_back(std::move(name), take_cell(value.text, at));
  }
  return row;
}

Truth Condition::holds(const Row& row) const {
  if (kind == Kind::negation) return !parts[0].holds(row);
  if (kind == Kind::all || kind == Kind::any) {
    Truth all = kYes;  // `or` is the negation of `and` over negations
    for (const Condition& part : parts) {
      all = all && (kind == Kind::all ? part.holds(row) : !part.holds(row));
      if (all.certainly_false()) break;
    }
    return kind == Kind::all ? all : !all;
  }
  const auto cell =
      std::find_if(row.begin(), row.end(), [this](const auto& c) { return c.first == column; });
  if (cell == row.end()) return kOpen;
  const Cell& value = cell->second;
  switch (kind) {
    case Kind::equal:
      return equal(value, constants[0]);
    case Kind::less:
      return less(value, constants[0]);
    case Kind::at_most:
      return !less(constants[0], value);
    case Kind::between:
      return !less(value, constants[0]) && !less(constants[1], value);
    case Kind::like:
      return like(value, constants[0]);
    case Kind::is_null:
      return value.type == Cell::Type::null ? kYes : kNo;
    default:
      break;
  }
  Truth none = kYes;
  for (const Cell& constant : constants) none = none && !equal(value, constant);
  return !none;
}

std::string Condition::to_string() const {
  const std::string name = is_plain_name(column) ? column : in_quotes(column, '"');
  switch (kind) {
    case Kind::all:
    case Kind::any: {
      std::string out;
      for (const Condition& part : parts) {
        if (!out.empty()) out += kind == Kind::all ? " and " : " or ";
        const bool nested = part.kind == Kind::any || part.kind == Kind::all;
        out += nested ? "(" + part.to_string() + ")" : part.to_string();
      }
      return out;
    }
    case Kind::negation: {
      const Condition& part = parts[0];
      const std::string other =
          is_plain_name(part.column) ? part.column : in_quotes(part.column, '"');
      if (part.kind == Kind::equal) return other + " != " + constant_text(part.constants[0]);
      if (part.kind == Kind::less) return other + " >= " + constant_text(part.constants[0]);
      if (part.kind == Kind::at_most) return other + " > " + constant_text(part.constants[0]);
      if (part.kind == Kind::is_null) return other + " is not null";
      return "not (" + part.to_string() + ")";
    }
    case Kind::equal:
      return name + " = " + constant_text(constants[0]);
    case Kind::less:
      return name + " < " + constant_text(constants[0]);
    case Kind::at_most:
      return name + " <= " + constant_text(constants[0]);
    case Kind::between:
      return name + " between " + constant_text(constants[0]) + " and " +
             constant_text(constants[1]);
    case Kind::like:
      return name + " like " + constant_text(constants[0]);
    case Kind::is_null:
      return name + " is null";
    case Kind::in: {
      std::string out;
      for (const Cell& constant : constants)
        out += (out.empty() ? "" : ", ") + constant_text(constant);
      return name + " in (" + out + ")";
    }
  }
  return {};
}

Result<Condition> parse_condition(std::string_view text) { return Parser(text).run(); }

}  // namespace assay::internal
