#include "certify/json_cursor.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "assay/history.h"
#include "base/utf8.h"

namespace assay::internal::certify {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

Error JsonCursor::error() const {
  const std::string_view before = text_.substr(0, error_at_);
  const auto lines = static_cast<uint64_t>(std::count(before.begin(), before.end(), '\n'));
  const size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return bad_input(error_.value_or(""), lines + 1, before.size() - line_start + 1);
}

void JsonCursor::fail(std::string message) {
  if (error_) return;
  error_ = std::move(message);
  error_at_ = std::min(at_, text_.size());
}

void JsonCursor::skip_blanks() {
  while (at_ < text_.size() &&
         (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
    ++at_;
}

char JsonCursor::peek() {
  skip_blanks();
  return ok() && at_ < text_.size() ? text_[at_] : '\0';
}

bool JsonCursor::take(char c) {
  if (peek() != c) return false;
  ++at_;
  return true;
}

bool JsonCursor::expect(char c) {
  if (take(c)) return true;
  fail(std::string("expected '") + c + "'");
  return false;
}

// To be called between elements: true if another one follows.
bool JsonCursor::next(char close) {
  if (!ok() || take(close)) return false;
  if (take(',')) return true;
  fail(std::string("expected ',' or '") + close + "'");
  return false;
}

size_t JsonCursor::field(std::initializer_list<std::string_view> names, uint32_t seen) {
  skip_blanks();
  const size_t start = at_;
  std::string name;
  string(name);
  if (!ok()) return 0;
  const auto found = std::find(names.begin(), names.end(), name);
  const auto i = static_cast<size_t>(found - names.begin());
  if (found == names.end() || (seen >> i & 1)) {
    std::string expected;
    for (std::string_view n : names) expected += (expected.empty() ? "" : ", ") + std::string(n);
    at_ = start;
    fail(found == names.end() ? "unknown field \"" + name + "\"; expected one of " + expected
                              : "field \"" + name + "\" appears twice");
    return 0;
  }
  expect(':');
  return i;
}

bool JsonCursor::take_word(std::string_view word) {
  skip_blanks();
  if (!ok() || text_.substr(at_, word.size()) != word) return false;
  at_ += word.size();
  return true;
}

void JsonCursor::flag(bool& to) {
  to = take_word("true");
  if (!to && !take_word("false")) fail("expected true or false");
}

// The text of a whole number without superfluous zeros; empty after an error.
std::string_view JsonCursor::digits() {
  if (peek() == '\0') {
    fail("expected a whole number");
    return {};
  }
  size_t end = at_;
  if (text_[end] == '-') ++end;
  const size_t digits = end;
  while (end < text_.size() && is_digit(text_[end])) ++end;
  const bool padded = end - digits > 1 && text_[digits] == '0';
  const bool fraction =
      end < text_.size() && (text_[end] == '.' || text_[end] == 'e' || text_[end] == 'E');
  if (end == digits || padded || fraction) {
    fail("expected a whole number");
    return {};
  }
  return text_.substr(at_, end - at_);
}

template <class Number>
void JsonCursor::number(Number& to, Number most, std::string_view expected) {
  to = 0;
  const std::string_view text = digits();
  if (!ok()) return;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  if (error == std::errc() && end == text.data() + text.size() && to <= most) {
    at_ += text.size();
    return;
  }
  to = 0;
  fail(std::string(expected));
}

void JsonCursor::index(uint32_t& to) {
  number(to, std::numeric_limits<uint32_t>::max() - 1,
         "expected a whole number from 0 to 4294967294");
}

void JsonCursor::index_or_null(uint32_t& to) {
  to = kNone;
  if (!take_word("null")) index(to);
}

void JsonCursor::integer(int64_t& to) {
  number(to, std::numeric_limits<int64_t>::max(), "expected a 64-bit number");
}

void JsonCursor::string(std::string& to) {
  to.clear();
  if (peek() != '"') {
    fail("expected a string");
    return;
  }
  ++at_;
  while (ok()) {
    const size_t plain = at_;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' &&
           static_cast<unsigned char>(text_[at_]) >= 0x20)
      ++at_;
    to.append(text_.substr(plain, at_ - plain));
    if (at_ >= text_.size()) {
      fail("the text ends within a string");
    } else if (text_[at_] == '"') {
      ++at_;
      return;
    } else if (text_[at_] == '\\') {
      escape(to);
    } else {
      fail("a control character within a string; expected it escaped");
    }
  }
}

void JsonCursor::escape(std::string& out) {
  constexpr std::string_view kNames = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
  ++at_;
  const char c = at_ < text_.size() ? text_[at_] : '\0';
  if (const size_t i = kNames.find(c); c != '\0' && i != std::string_view::npos) {
    out.push_back(kMeanings[i]);
    ++at_;
    return;
  }
  if (c != 'u') return fail("unknown escape in a string");
  ++at_;
  uint32_t code = hex4();
  if (code >= 0xD800 && code < 0xDC00) {
    if (text_.substr(at_, 2) != "\\u") return fail("half of a surrogate pair");
    at_ += 2;
    const uint32_t low = hex4();
    if (low < 0xDC00 || low > 0xDFFF) return fail("half of a surrogate pair");
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  } else if (code >= 0xDC00 && code <= 0xDFFF) {
    return fail("half of a surrogate pair");
  }
  if (ok()) append_utf8(out, code);
}

uint32_t JsonCursor::hex4() {
  const std::string_view digits = text_.substr(std::min(at_, text_.size()), 4);
  uint32_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (digits.size() != 4 || error != std::errc() || end != digits.data() + 4) {
    fail("expected four hexadecimal digits");
    return 0;
  }
  at_ += 4;
  return value;
}

void JsonCursor::end() {
  skip_blanks();
  if (at_ < text_.size()) fail("expected the end of the text");
}

void JsonWriter::index_or_null(uint32_t i) {
  if (i == kNone)
    out_ += "null";
  else
    index(i);
}

void JsonWriter::integer(int64_t i) {
  const fmt::format_int text(i);
  out_.append(text.data(), text.size());
}

void JsonWriter::string(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out_ += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20) {
      out_ += "\\u00";
      out_ += kDigits[byte >> 4];
      out_ += kDigits[byte & 15];
      continue;
    }
    if (c == '"' || c == '\\') out_ += '\\';
    out_ += c;
  }
  out_ += '"';
}

}  // namespace assay::internal::certify
