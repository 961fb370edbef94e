#include "collect/sql/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace assay::internal::collect::sql {
namespace {

constexpr std::string_view kLongSigns[] = {"..", "<=", ">=", "<>", "!="};
constexpr std::string_view kSigns = "(),;=<>+-*%/|.";

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<std::vector<Token>> run() {
    std::vector<Token> tokens;
    while (true) {
      if (Status s = pass_blanks(); !s.ok()) return s.error();
      Result<Token> token = next();
      if (!token.ok()) return token.error();
      tokens.push_back(std::move(*token));
      if (tokens.back().kind == Token::Kind::end) return tokens;
    }
  }

 private:
  char at(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool over() const { return at_ >= text_.size(); }
  void pass(size_t n = 1) {
    for (; n > 0 && !over(); --n)
      if (text_[at_++] == '\n')
        place_ = {place_.line + 1, 1};
      else
        ++place_.column;
  }
  Error fault(std::string message, Place place) const {
    return bad_input(std::move(message), place.line, place.column);
  }

  // Skips blanks and comments.
  Status pass_blanks() {
    while (!over()) {
      if (std::isspace(static_cast<unsigned char>(at())) != 0) {
        pass();
      } else if (at() == '-' && at(1) == '-') {
        while (!over() && at() != '\n') pass();
      } else if (at() == '/' && at(1) == '*') {
        const Place begin = place_;
        while (!over() && !(at() == '*' && at(1) == '/')) pass();
        if (over()) return fault("unterminated comment; expected */", begin);
        pass(2);
      } else {
        break;
      }
    }
    return Ok{};
  }

  Token token(Token::Kind kind, size_t length) {
    Token t{kind, std::string(text_.substr(at_, length)), place_};
    pass(length);
    return t;
  }
  template <class Is>
  size_t length_of(size_t from, Is is) const {
    size_t n = from;
    while (at_ + n < text_.size() && is(text_[at_ + n])) ++n;
    return n;
  }

  Result<Token> next() {
    const auto in_word = [](char c) { return is_letter(c) || is_digit(c); };
    if (over()) return Token{Token::Kind::end, {}, place_};
    if (is_letter(at())) {
      Token t = token(Token::Kind::word, length_of(0, in_word));
      std::transform(t.text.begin(), t.text.end(), t.text.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      return t;
    }
    if (is_digit(at())) return token(Token::Kind::integer, length_of(0, is_digit));
    if (at() == '\'') return quoted();
    if (at() == ':' && is_letter(at(1))) {
      Token t = token(Token::Kind::parameter, length_of(1, in_word));
      t.text.erase(0, 1);
      return t;
    }
    for (const std::string_view sign : kLongSigns)
      if (text_.substr(at_).starts_with(sign)) return token(Token::Kind::sign, sign.size());
    if (kSigns.find(at()) != kSigns.npos) return token(Token::Kind::sign, 1);
    if (at() == '"' || at() == '`')
      return fault("a name in quotes; expected one of letters, digits and _", place_);
    return fault(fmt::format("unexpected '{}'; strings are quoted with ', parameters start with :",
                             std::isprint(static_cast<unsigned char>(at())) != 0 ? at() : '?'),
                 place_);
  }

  Result<Token> quoted() {
    Token t{Token::Kind::text, {}, place_};
    for (pass(); !over(); pass()) {
      if (at() == '\0') return fault("a text with a zero byte, which databases refuse", place_);
      if (at() == '\'' && at(1) != '\'') {
        pass();
        return t;
      }
      if (at() == '\'') pass();
      t.text += at();
    }
    return fault("unterminated text; expected '", t.place);
  }

  std::string_view text_;
  size_t at_ = 0;
  Place place_ = {1, 1};
};

}  // namespace

std::string Token::shown() const {
  switch (kind) {
    case Kind::end:
      return "the end of the file";
    case Kind::text:
      return "the text '" + text + "'";
    case Kind::parameter:
      return ":" + text;
    default:
      return "'" + text + "'";
  }
}

Result<std::vector<Token>> tokens_of(std::string_view text) { return Lexer(text).run(); }

}  // namespace assay::internal::collect::sql
