#include "formats/json_records.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace assay::internal::formats {

Error JsonRecords::error_at(size_t offset, std::string message) const {
  uint64_t line = line_;
  uint64_t column = column_;
  for (char c : input_.window().substr(0, offset)) {
    ++column;
    if (c == '\n') {
      ++line;
      column = 1;
    }
  }
  return input_.located(bad_input(std::move(message), line, column));
}

Error JsonRecords::error(std::span<const JsonStep> path, std::string message) const {
  return error_at(locate_json(text_, path), std::move(message));
}

void JsonRecords::consume(size_t size) {
  for (char c : input_.window().substr(0, size)) {
    ++column_;
    if (c == '\n') {
      ++line_;
      column_ = 1;
    }
  }
  input_.consume(size);
}

Result<char> JsonRecords::peek() {
  for (;;) {
    std::string_view w = input_.window();
    size_t blanks = std::min(w.find_first_not_of(" \t\r\n"), w.size());
    consume(blanks);
    auto end = input_.at_end();
    if (!end.ok()) return end.error();
    if (*end) return '\0';
    if (blanks < w.size()) return input_.window()[0];
  }
}

Result<size_t> JsonRecords::value_length() {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0;; ++i) {
    if (i >= input_.window().size()) {
      if (i > kMaxLineBytes) return error_at(0, "the record is longer than 16 MiB");
      if (auto s = input_.fill(std::max<size_t>(2 * i, 4096)); !s.ok()) return s.error();
      if (i >= input_.window().size()) return i;  // cut off, or a bare value; the parser will see
    }
    const char c = input_.window()[i];
    if (quoted) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        quoted = false;
      continue;
    }
    switch (c) {
      case '"':
        quoted = true;
        break;
      case '{':
      case '[':
        ++depth;
        break;
      case '}':
      case ']':
        if (depth <= 1) return depth == 0 ? i : i + 1;
        --depth;
        break;
      case ',':
      case '\n':
        if (depth == 0) return i;
        break;
      default:
        break;
    }
  }
}

Result<bool> JsonRecords::next(simdjson::dom::element& record) {
  consume(std::exchange(unconsumed_, 0));
  auto c = peek();
  if (!c.ok()) return c.error();
  if (!started_) {
    started_ = true;
    array_ = *c == '[';
    if (array_) {
      consume(1);
      c = peek();
      if (!c.ok()) return c.error();
      ended_ = *c == ']';
    }
  } else if (array_ && !ended_) {
    if (*c != ',' && *c != ']') return error_at(0, "expected ',' or ']'");
    ended_ = *c == ']';
    if (!ended_) {
      consume(1);
      c = peek();
      if (!c.ok()) return c.error();
    }
  }
  if (array_ && ended_) {
    if (*c == ']') consume(1);
    c = peek();
    if (!c.ok()) return c.error();
    if (*c != '\0') return error_at(0, "expected nothing after the array");
    return false;
  }
  if (*c == '\0') {
    if (array_) return error_at(0, "expected a record or ']', not the end");
    return false;
  }
  auto length = value_length();
  if (!length.ok()) return length.error();
  if (*length > kMaxLineBytes) return error_at(0, "the record is longer than 16 MiB");
  text_ = input_.window().substr(0, *length);
  unconsumed_ = *length;
  if (parser_.max_depth() != kMaxJsonDepth &&
      parser_.allocate(size_t{1} << 12, kMaxJsonDepth) != simdjson::SUCCESS)
    return error_at(0, "not enough memory");
  // The window of the input is padded, so nothing needs to be copied.
  if (parser_.parse(text_.data(), text_.size(), false).get(record) == simdjson::SUCCESS)
    return true;
  auto fault = find_json_fault(text_);
  if (!fault) return error_at(0, "not valid JSON: a number is out of range");
  return error_at(fault->offset, "not valid JSON: " + fault->message);
}

bool json_value(simdjson::dom::element e, ValueView& to) {
  switch (e.type()) {
    case simdjson::dom::element_type::INT64:
      to = ValueView::of(e.get_int64().value_unsafe());
      return true;
    case simdjson::dom::element_type::STRING:
      to = ValueView::of(e.get_string().value_unsafe());
      return true;
    default:
      return false;
  }
}

bool json_integer(simdjson::dom::element e, int64_t& to) {
  std::string_view text;
  if (e.get_int64().get(to) == simdjson::SUCCESS) return true;
  if (e.get_string().get(text) != simdjson::SUCCESS) return false;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  return error == std::errc{} && end == text.data() + text.size();
}

bool json_field(simdjson::dom::object object, std::string_view name, simdjson::dom::element& to) {
  return object.at_key(name).get(to) == simdjson::SUCCESS;
}

}  // namespace assay::internal::formats
