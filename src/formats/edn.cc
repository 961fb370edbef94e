#include "formats/edn.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "formats/json_text.h"
#include "formats/utf8.h"

namespace assay::internal::formats {
namespace {

enum CharClass : uint8_t {
  kBlank = 1,
  kOpen = 2,
  kClose = 4,
  kQuote = 8,
  kComment = 16,
  kEscape = 32
};

constexpr std::array<uint8_t, 256> kClassOf = [] {
  std::array<uint8_t, 256> of{};
  const auto put = [&](std::string_view chars, uint8_t is) {
    for (const char c : chars) of[static_cast<uint8_t>(c)] = is;
  };
  put(" \t\n\r,", kBlank);
  put("([{", kOpen);
  put(")]}", kClose);
  put("\"", kQuote);
  put(";", kComment);
  put("\\", kEscape);
  return of;
}();

bool is(char c, uint8_t classes) { return (kClassOf[static_cast<uint8_t>(c)] & classes) != 0; }
bool is_blank(char c) { return is(c, kBlank); }
// Ends a number, keyword or symbol.
bool is_delimiter(char c) { return is(c, kBlank | kOpen | kClose | kQuote | kComment); }

// Where `text` ends, which begins at that line and column.
void advance(std::string_view text, uint64_t& line, uint64_t& column) {
  size_t behind = 0;  // the last line end
  for (size_t at = text.find('\n'); at != text.npos; at = text.find('\n', behind)) {
    behind = at + 1;
    column = 1;
    ++line;
  }
  column += text.size() - behind;
}

}  // namespace

bool DatumTree::parse(std::string_view text, bool json, Rest rest) {
  text_ = text;
  json_ = json;
  at_ = 0;
  nodes_.assign(1, {});
  strings_.clear();
  message_.clear();
  if (json) {
    if (auto fault = find_json_fault(text)) {
      at_ = fault->offset;
      return fail("not valid JSON: " + fault->message);
    }
  } else if (!is_utf8(text)) {
    while (size_t n = utf8_length(text_.substr(at_))) at_ += n;
    return fail("invalid UTF-8");
  }
  if (!skip_blanks(0) || !value(0, 0)) return false;
  if (rest == Rest::ignored) return true;
  if (!skip_blanks(0)) return false;
  return done() || fail("expected nothing after the record");
}

bool DatumTree::fail(std::string message) {
  if (message_.empty()) message_ = std::move(message);
  return false;
}

// Blanks, comments and discarded values.
bool DatumTree::skip_blanks(int depth) {
  for (;;) {
    while (!done() && (is_blank(text_[at_]) || (json_ && text_[at_] == ':'))) ++at_;
    if (done() || json_) return true;
    if (text_[at_] == ':' && (at_ + 1 == text_.size() || is_delimiter(text_[at_ + 1]))) {
      ++at_;  // a colon alone is no EDN; some write {"id": 5}
    } else if (text_[at_] == ';') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (text_[at_] == '#' && text_.substr(at_).starts_with("#_")) {
      at_ += 2;
      const auto scratch = static_cast<uint32_t>(nodes_.size());
      nodes_.emplace_back();
      if (depth > kMaxJsonDepth) return fail("nested more than 64 deep");
      if (!skip_blanks(depth + 1) || !value(scratch, depth + 1)) return false;
    } else {
      return true;
    }
  }
}

bool DatumTree::value(uint32_t index, int depth) {
  if (done()) return fail("unexpected end");
  if (depth > kMaxJsonDepth) return fail("nested more than 64 deep");
  nodes_[index].at = at_;
  bool ok = false;
  switch (text_[at_]) {
    case '(':
      ok = collection(index, Datum::Kind::list, ')', depth);
      break;
    case '[':
      ok = collection(index, Datum::Kind::list, ']', depth);
      break;
    case '{':
      ok = collection(index, Datum::Kind::map, '}', depth);
      break;
    case '#':
      ok = hash(index, depth);
      break;
    case '"':
      ok = string(nodes_[index]);
      break;
    case '\\':
      ok = character(nodes_[index]);
      break;
    default:
      ok = atom(nodes_[index]);
      break;
  }
  nodes_[index].end = at_;
  return ok;
}

bool DatumTree::collection(uint32_t index, Datum::Kind kind, char close, int depth) {
  const size_t begin = at_++;
  nodes_[index].kind = kind;
  uint32_t last = kNone;
  for (;;) {
    if (!skip_blanks(depth)) return false;
    if (done()) return fail("unexpected end");
    if (text_[at_] == close) break;
    const auto child = static_cast<uint32_t>(nodes_.size());
    nodes_.emplace_back();
    (last == kNone ? nodes_[index].child : nodes_[last].next) = child;
    ++nodes_[index].children;
    last = child;
    if (!value(child, depth + 1)) return false;
  }
  ++at_;
  if (kind != Datum::Kind::map || nodes_[index].children % 2 == 0) return true;
  at_ = begin;
  return fail("the map has a key without a value");
}

// #{set}, #tag value
bool DatumTree::hash(uint32_t index, int depth) {
  ++at_;
  if (!done() && text_[at_] == '{') return collection(index, Datum::Kind::set, '}', depth);
  while (!done() && !is_delimiter(text_[at_])) ++at_;
  return skip_blanks(depth) && value(index, depth + 1);
}

bool DatumTree::string(Datum& d) {
  const size_t begin = at_++;
  d.kind = Datum::Kind::string;
  std::string* unescaped = nullptr;
  size_t plain = at_;
  for (;; ++at_) {
    at_ = std::min(text_.find_first_of("\"\\", at_), text_.size());
    if (done()) {
      at_ = begin;
      return fail("the string has no closing quote");
    }
    const bool escaped = text_[at_] == '\\';
    if (escaped && !unescaped) unescaped = &strings_.emplace_back();
    if (unescaped) unescaped->append(text_.substr(plain, at_ - plain));
    if (!escaped) break;
    if (!escape(*unescaped)) return false;
    plain = at_ + 1;
  }
  d.text = unescaped ? std::string_view(*unescaped) : text_.substr(plain, at_ - plain);
  ++at_;
  return true;
}

// Leaves at_ on the last character of the escape.
bool DatumTree::escape(std::string& to) {
  constexpr std::string_view kNames = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  const size_t begin = at_++;
  if (!done()) {
    const size_t name = kNames.find(text_[at_]);
    if (name != kNames.npos) {
      to += kMeanings[name];
      return true;
    }
  }
  auto hex4 = [&](size_t at, uint32_t& code) {
    std::string_view hex = text_.substr(std::min(at, text_.size()), 4);
    auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), code, 16);
    return hex.size() == 4 && error == std::errc{} && end == hex.data() + 4;
  };
  uint32_t code = 0;
  if (!done() && text_[at_] == 'u' && hex4(at_ + 1, code) && (code < 0xDC00 || code > 0xDFFF)) {
    at_ += 4;
    uint32_t low = 0;
    if (code < 0xD800 || code > 0xDBFF) return append_utf8(to, code), true;
    if (text_.substr(at_ + 1).starts_with("\\u") && hex4(at_ + 3, low) && low >= 0xDC00 &&
        low <= 0xDFFF) {
      at_ += 6;
      return append_utf8(to, 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)), true;
    }
  }
  at_ = begin;
  return fail("invalid escape in a string");
}

// \a, \newline
bool DatumTree::character(Datum& d) {
  d.kind = Datum::Kind::string;
  const size_t begin = ++at_;
  at_ += std::max<size_t>(1, utf8_length(text_.substr(at_)));
  if (at_ > text_.size()) {
    at_ = text_.size();
    return fail("unexpected end");
  }
  while (!done() && !is_delimiter(text_[at_])) ++at_;
  d.text = text_.substr(begin, at_ - begin);
  return true;
}

bool DatumTree::atom(Datum& d) {
  const size_t begin = at_;
  while (!done() && !is_delimiter(text_[at_])) ++at_;
  std::string_view word = text_.substr(begin, at_ - begin);
  if (word.empty()) return fail("expected a value");
  const char c = word[0];
  const bool signed_digit = (c == '-' || c == '+') && word.size() > 1;
  const char digit = signed_digit ? word[1] : c;
  if (digit >= '0' && digit <= '9') {
    if (number(d, word)) return true;
    at_ = begin;
    return false;
  }
  if (c == ':') {
    d.kind = Datum::Kind::keyword;
    d.text = word.substr(1);
  } else if (word == "nil" || word == "null") {
    d.kind = Datum::Kind::nil;
  } else if (word == "true" || word == "false") {
    d.kind = Datum::Kind::boolean;
    d.integer = word == "true" ? 1 : 0;
    d.text = word;
  } else {
    d.kind = Datum::Kind::symbol;
    d.text = word;
  }
  return true;
}

bool DatumTree::number(Datum& d, std::string_view word) {
  std::string_view digits = word;
  if (digits.front() == '+') digits.remove_prefix(1);
  if (digits.back() == 'N') digits.remove_suffix(1);
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), d.integer);
  const bool whole = end == digits.data() + digits.size();
  if (whole && error == std::errc::result_out_of_range)
    return fail("the integer does not fit into 64 bits");
  d.kind = whole ? Datum::Kind::integer : Datum::Kind::real;
  d.text = word;
  return whole || word.find_first_not_of("+-0123456789.eEM/") == word.npos ||
         fail("expected a number");
}

const Datum* DatumTree::field(const Datum& map, std::string_view name) const {
  if (map.kind != Datum::Kind::map) return nullptr;
  for (const Datum* key = first(map); key; key = next(*next(*key))) {
    const bool named = key->kind == Datum::Kind::keyword || key->kind == Datum::Kind::string;
    if (named && key->text == name) return next(*key);
  }
  return nullptr;
}

Error EdnRecords::error(size_t offset, std::string message) const {
  uint64_t line = line_;
  uint64_t column = column_;
  advance(input_.window().substr(0, offset), line, column);
  return input_.located(bad_input(std::move(message), line, column));
}

void EdnRecords::consume(size_t size) {
  advance(input_.window().substr(0, size), line_, column_);
  input_.consume(size);
}

// Skips blanks and comments; '\0' at the end of the input.
Result<char> EdnRecords::peek() {
  bool comment = false;
  for (;;) {
    std::string_view w = input_.window();
    size_t n = 0;
    for (; n < w.size(); ++n) {
      if (comment)
        comment = w[n] != '\n';
      else if (!json_ && w[n] == ';')
        comment = true;
      else if (!is_blank(w[n]))
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

// Length of the value that starts the window: to the bracket that closes it, or to the next blank.
Result<size_t> EdnRecords::record_length() {
  int depth = 0;
  bool quoted = false;
  bool comment = false;
  std::string_view window = input_.window();
  const bool tagged = window[0] == '#';
  for (size_t i = 0;; ++i) {
    if (i >= window.size()) {
      if (i > kMaxLineBytes) return error(0, "the record is longer than 16 MiB");
      if (auto s = input_.fill(std::max<size_t>(2 * i, 4096)); !s.ok()) return s.error();
      window = input_.window();
      if (i >= window.size()) return std::min(i, window.size());
    }
    const char c = window[i];
    const bool plain = kClassOf[static_cast<uint8_t>(c)] == 0;
    if (plain && !comment && !quoted) continue;
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

Result<bool> EdnRecords::next(DatumTree& tree) {
  consume(std::exchange(unconsumed_, 0));
  auto c = peek();
  if (!c.ok()) return c.error();
  if (!std::exchange(started_, true) && (*c == '[' || *c == '(')) {
    close_ = *c == '[' ? ']' : ')';
    consume(1);
    c = peek();
    if (!c.ok()) return c.error();
  }
  if (close_ != '\0' && *c == close_) {
    consume(1);
    c = peek();
    if (!c.ok()) return c.error();
    if (*c != '\0') return error(0, "expected nothing after the history");
    return false;
  }
  if (*c == '\0') {
    if (close_ != '\0')
      return error(0, std::string("expected a record or '") + close_ + "', not the end");
    return false;
  }
  auto length = record_length();
  if (!length.ok()) return length.error();
  if (*length > kMaxLineBytes) return error(0, "the record is longer than 16 MiB");
  if (*length == 0) return error(0, "expected a record");
  text_ = input_.window().substr(0, *length);
  unconsumed_ = *length;
  if (!tree.parse(text_, json_)) return error(tree.fault_at(), tree.message());
  return true;
}

}  // namespace assay::internal::formats
