#include "formats/record_text.h"

#include <algorithm>

#include "formats/edn_chars.h"

namespace assay::internal::formats {
namespace {

// Moves `line` and `column`, at which `text` begins, to its end.
void advance(std::string_view text, uint64_t& line, uint64_t& column) {
  size_t behind = 0;  // position after the last line end
  for (size_t at = text.find('\n'); at != text.npos; at = text.find('\n', behind)) {
    behind = at + 1;
    column = 1;
    ++line;
  }
  column += text.size() - behind;
}

}  // namespace

Error RecordText::error(size_t offset, std::string message) const {
  uint64_t line = line_;
  uint64_t column = column_;
  advance(input_.window().substr(0, offset), line, column);
  return input_.located(bad_input(std::move(message), line, column));
}

void RecordText::consume(size_t size) {
  advance(input_.window().substr(0, size), line_, column_);
  input_.consume(size);
}

// Skips blanks and comments; '\0' at the end of the input.
Result<char> RecordText::peek() {
  bool comment = false;
  for (;;) {
    std::string_view w = input_.window();
    size_t n = 0;
    for (; n < w.size(); ++n) {
      if (comment)
        comment = w[n] != '\n';
      else if (!json_ && w[n] == ';')
        comment = true;
      else if (!is_blank(w[n]) || (json_ && w[n] == ','))
        break;
    }
    const bool found = n < w.size();
    consume(n);
    if (found) return input_.window()[0];
    auto end = input_.at_end();
    if (!end.ok()) return end.error();
    if (*end) return '\0';
  }
}

// The length of the value at the start of the window: to the bracket that closes it, or to the next
// blank.
Result<size_t> RecordText::length() {
  int depth = 0;
  bool quoted = false;
  bool comment = false;
  std::string_view window = input_.window();
  const bool tagged = window[0] == '#';
  for (size_t i = 0;; ++i) {
    if (i >= window.size()) {
      if (i > most_) return too_long();
      if (auto s = input_.fill(std::max<size_t>(2 * i, 4096)); !s.ok()) return s.error();
      window = input_.window();
      if (i >= window.size()) return std::min(i, window.size());
    }
    const char c = window[i];
    if (kClassOf[static_cast<uint8_t>(c)] == 0) continue;  // ends nothing, not even a comment
    if (comment) {
      comment = c != '\n';
    } else if (c == '\\') {
      ++i;  // an escape in a string, or a character
    } else if (quoted) {
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == ';' && !json_) {
      comment = true;
    } else if (is(c, kOpen)) {
      ++depth;
    } else if (is(c, kClose)) {
      if (depth <= 1) return depth == 0 ? i : i + 1;
      --depth;
    } else if (depth == 0 && is_blank(c) && !tagged) {
      return i;
    }
  }
}

// Takes one character.
Result<char> RecordText::step() {
  consume(1);
  return peek();
}

Result<bool> RecordText::next() {
  consume(std::exchange(unconsumed_, 0));
  auto c = peek();
  if (!c.ok()) return c.error();
  const bool first = !std::exchange(started_, true);
  if (first && (*c == '[' || (*c == '(' && !json_))) {
    close_ = *c == '[' ? ']' : ')';
    c = step();
    if (!c.ok()) return c.error();
  }
  if (close_ != '\0' && *c == close_) {
    c = step();
    if (!c.ok()) return c.error();
    if (*c != '\0') return error(0, "expected the end after the array");
    return false;
  }
  if (json_ && close_ != '\0' && !first) {
    if (*c != ',') return error(0, "expected ',' or ']'");
    c = step();
    if (!c.ok()) return c.error();
  }
  if (*c == '\0') {
    if (close_ != '\0')
      return error(0, std::string("expected a record or '") + close_ + "', not the end");
    return false;
  }
  const auto size = length();
  if (!size.ok()) return size.error();
  if (*size > most_) return too_long();
  if (*size == 0) return error(0, "expected a record");
  text_ = input_.window().substr(0, *size);
  unconsumed_ = *size;
  return true;
}

Error RecordText::too_long() const {
  return error(0, "the record is longer than " + std::to_string(most_ >> 20) + " MiB");
}

}  // namespace assay::internal::formats
