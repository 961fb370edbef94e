// The words of a file of SQL, taken one after another. Errors are thrown, only inside the parser,
// as nearly every line of it can fail.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/result.h"
#include "collect/sql/file.h"
#include "collect/sql/lexer.h"

namespace assay::internal::collect::sql {

struct Fault {
  Error error;
};
[[noreturn]] inline void fail(const Place& place, std::string message) {
  throw Fault{bad_input(std::move(message), place.line, place.column)};
}

class Cursor {
 public:
  explicit Cursor(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& now() const { return tokens_[at_]; }
  const Token& ahead(size_t n = 1) const { return tokens_[std::min(at_ + n, tokens_.size() - 1)]; }
  [[noreturn]] void expected(std::string_view what) const {
    fail(now().place, fmt::format("{}; expected {}", now().shown(), what));
  }
  // Takes the word if it is next; returns whether it was.
  bool take(std::string_view word) {
    if (!now().is(word)) return false;
    ++at_;
    return true;
  }
  void need(std::string_view word) {
    if (!take(word)) expected("'" + std::string(word) + "'");
  }
  // Each takes a token of its kind; `what` names the expected token in the message.
  std::string name(std::string_view what) {
    if (now().kind != Token::Kind::word) expected(what);
    if (now().text.starts_with("assay") || now().text == kWrittenBy)
      fail(now().place,
           fmt::format("the name '{}' is reserved for assay; expected another one", now().text));
    return tokens_[at_++].text;
  }
  int64_t integer(std::string_view what) {
    const bool negative = take("-");
    if (now().kind != Token::Kind::integer) expected(what);
    const std::string digits = (negative ? "-" : "") + now().text;
    int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc()) fail(now().place, "not a 64-bit integer; expected a smaller number");
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
  // Takes the next token of any kind.
  std::string any() { return tokens_[at_++].text; }
  void skip(size_t n = 1) { at_ += n; }
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
  // Calls `item` for each of several items separated by commas.
  template <class Item>
  void listed(Item item) {
    do item();
    while (take(","));
  }

  // The position, for what can be read only after something that follows it.
  size_t at() const { return at_; }
  void go_to(size_t at) { at_ = at; }

 private:
  std::vector<Token> tokens_;  // the last one is an `end`
  size_t at_ = 0;
};

}  // namespace assay::internal::collect::sql
