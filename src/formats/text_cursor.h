// A cursor over one line of a text format: blanks, literals, integers, and the first error with its
// column.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace assay::internal::formats {

class TextCursor {
 public:
  explicit TextCursor(std::string_view line) : line_(line) {}

  size_t at() const { return at_; }
  void seek(size_t at) { at_ = at; }
  bool done() const { return at_ >= line_.size(); }
  char peek() const { return done() ? '\0' : line_[at_]; }
  std::string_view rest() const { return line_.substr(at_); }
  std::string_view line() const { return line_; }

  void skip_blanks() {
    while (peek() == ' ' || peek() == '\t') ++at_;
  }
  // Skips `literal` if it is next.
  bool accept(std::string_view literal) {
    if (!rest().starts_with(literal)) return false;
    at_ += literal.size();
    return true;
  }
  // Skips blanks, then `literal`; false if that is not next.
  bool expect(std::string_view literal) {
    skip_blanks();
    return accept(literal) || expected("'" + std::string(literal) + "'");
  }
  template <class Predicate>
  std::string_view take_while(Predicate wanted) {
    size_t begin = at_;
    while (!done() && wanted(line_[at_])) ++at_;
    return line_.substr(begin, at_ - begin);
  }
  // Reads a decimal 64-bit integer.
  bool integer(int64_t& to, std::string_view what = "an integer of 64 bits") {
    auto [end, code] = std::from_chars(line_.data() + at_, line_.data() + line_.size(), to);
    if (code != std::errc{}) return expected(what);
    at_ = static_cast<size_t>(end - line_.data());
    return true;
  }

  // Records a failure; the first one is kept. Both functions return false.
  bool fail(std::string message) { return fail_at(at_, std::move(message)); }
  bool fail_at(size_t at, std::string message) {
    if (message_.empty()) {
      message_ = std::move(message);
      column_ = at + 1;
    }
    return false;
  }
  bool expected(std::string_view what) { return fail("expected " + std::string(what)); }
  const std::string& message() const { return message_; }
  uint64_t column() const { return column_; }

 private:
  std::string_view line_;
  size_t at_ = 0;
  std::string message_;
  uint64_t column_ = 0;
};

}  // namespace assay::internal::formats
