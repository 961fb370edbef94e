#include "formats/edn.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "formats/edn_chars.h"
#include "formats/json_text.h"
#include "formats/utf8.h"

namespace assay::internal::formats {
namespace {

// Whether the character ends a number, keyword or symbol.
bool is_delimiter(char c) { return is(c, kBlank | kOpen | kClose | kQuote | kComment); }

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
  return done() || fail("expected the end after the record");
}

bool DatumTree::fail(std::string message) {
  if (message_.empty()) message_ = std::move(message);
  return false;
}

// Skips blanks, comments and discarded values.
bool DatumTree::skip_blanks(int depth) {
  for (;;) {
    while (!done() && (is_blank(text_[at_]) || (json_ && text_[at_] == ':'))) ++at_;
    if (done() || json_) return true;
    if (text_[at_] == ':' && (at_ + 1 == text_.size() || is_delimiter(text_[at_ + 1]))) {
      ++at_;  // a colon alone is not EDN, but some write {"id": 5}
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

Result<bool> EdnRecords::next(DatumTree& tree) {
  auto more = RecordText::next();
  if (!more.ok() || !*more) return more;
  if (!tree.parse(text(), is_json())) return error(tree.fault_at(), tree.message());
  return true;
}

}  // namespace assay::internal::formats
