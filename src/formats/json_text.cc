#include "formats/json_text.h"

#include <charconv>

#include "formats/utf8.h"

namespace assay::internal::formats {
namespace {

// Walks over JSON. Every function returns false at the first fault, which is then in `fault`.
// The recursion is bounded by kMaxJsonDepth.
class Walker {
 public:
  explicit Walker(std::string_view text) : text_(text) {}

  JsonFault fault;

  size_t at() const { return at_; }
  bool done() const { return at_ >= text_.size(); }
  char peek() const { return done() ? '\0' : text_[at_]; }
  void step() { ++at_; }

  void skip_blanks() {
    while (!done() && (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r')) ++at_;
  }

  bool fail(std::string message) {
    fault = {at_, done() ? "unexpected end" : std::move(message), done()};
    return false;
  }

  bool expect(char c) {
    skip_blanks();
    if (done() || peek() != c) return fail(std::string("expected '") + c + "'");
    ++at_;
    return true;
  }

  bool string(std::string_view* raw = nullptr) {
    size_t begin = at_;
    if (!expect('"')) return false;
    for (;;) {
      if (done()) return fail("");
      unsigned char c = static_cast<unsigned char>(peek());
      if (c == '"') break;
      if (c < 0x20) return fail("control character in a string, expected an escape like \\n");
      if (c == '\\') {
        if (!escape()) return false;
      } else {
        size_t n = utf8_length(text_.substr(at_));
        if (n == 0) return invalid_utf8();
        at_ += n;
      }
    }
    if (raw) *raw = text_.substr(begin + 1, at_ - begin - 1);
    ++at_;
    return true;
  }

  bool value(int depth) {
    skip_blanks();
    if (done()) return fail("");
    switch (peek()) {
      case '{':
        return object(depth);
      case '[':
        return array(depth);
      case '"':
        return string();
      case 't':
        return literal("true");
      case 'f':
        return literal("false");
      case 'n':
        return literal("null");
      default:
        return number();
    }
  }

 private:
  bool invalid_utf8() {
    // If the end of the text cuts a character in two, the text is cut off.
    if (text_.size() - at_ < 4) {
      for (const char* rest : {"\x80", "\x80\x80", "\x80\x80\x80", "\xA0\x80", "\x90\x80\x80"}) {
        std::string whole = std::string(text_.substr(at_)) + rest;
        if (utf8_length(whole) == whole.size()) {
          at_ = text_.size();
          return fail("");
        }
      }
    }
    return fail("invalid UTF-8");
  }

  bool escape() {
    size_t begin = at_++;
    if (done()) return fail("");
    if (std::string_view("\"\\/bfnrt").find(peek()) != std::string_view::npos) {
      ++at_;
      return true;
    }
    uint32_t code = 0;
    if (peek() != 'u' || !hex4(code)) return done() ? fail("") : bad_escape(begin);
    if (code >= 0xDC00 && code < 0xE000) return bad_escape(begin);
    if (code < 0xD800 || code >= 0xDC00) return true;
    if (done()) return fail("");
    if (peek() != '\\') return bad_escape(begin);
    ++at_;
    if (done()) return fail("");
    if (peek() != 'u' || !hex4(code)) return done() ? fail("") : bad_escape(begin);
    return (code >= 0xDC00 && code < 0xE000) || bad_escape(begin);
  }

  bool bad_escape(size_t begin) {
    at_ = begin;
    return fail("invalid escape in a string");
  }

  bool hex4(uint32_t& code) {
    ++at_;
    code = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      if (done()) return false;
      char c = peek();
      uint32_t digit = 16;
      if (c >= '0' && c <= '9') digit = static_cast<uint32_t>(c - '0');
      if (c >= 'a' && c <= 'f') digit = static_cast<uint32_t>(c - 'a' + 10);
      if (c >= 'A' && c <= 'F') digit = static_cast<uint32_t>(c - 'A' + 10);
      if (digit == 16) return false;
      code = code << 4 | digit;
    }
    return true;
  }

  bool literal(std::string_view word) {
    size_t begin = at_;
    for (char c : word) {
      if (done()) return fail("");
      if (peek() != c) {
        at_ = begin;
        return fail("expected a JSON value");
      }
      ++at_;
    }
    return true;
  }

  bool digits() {
    if (done()) return fail("");
    if (peek() < '0' || peek() > '9') return fail("expected a digit");
    while (peek() >= '0' && peek() <= '9') ++at_;
    return true;
  }

  bool number() {
    size_t begin = at_;
    if (peek() != '-' && (peek() < '0' || peek() > '9')) return fail("expected a JSON value");
    if (peek() == '-') ++at_;
    bool zero = peek() == '0';
    size_t first = at_;
    if (!digits()) return false;
    bool integer = true;
    if (zero && at_ > first + 1) {
      at_ = begin;
      return fail("a number must not start with 0");
    }
    if (peek() == '.') {
      integer = false;
      ++at_;
      if (!digits()) return false;
    }
    if (peek() == 'e' || peek() == 'E') {
      integer = false;
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      if (!digits()) return false;
    }
    if (done()) return true;  // perhaps truncated; the caller notices that the rest is missing
    return integer ? in_range<int64_t>(begin, "the integer does not fit into 64 bits")
                   : in_range<double>(begin, "the number is out of range");
  }

  template <class Number>
  bool in_range(size_t begin, std::string_view complaint) {
    Number v;
    if (std::from_chars(text_.data() + begin, text_.data() + at_, v).ec == std::errc{}) return true;
    at_ = begin;
    return fail(std::string(complaint));
  }

  bool deeper(int& depth) {
    if (++depth > kMaxJsonDepth) return fail("nested more than 64 deep");
    ++at_;
    skip_blanks();
    return true;
  }

  bool array(int depth) {
    if (!deeper(depth)) return false;
    if (peek() == ']') return step(), true;
    for (;;) {
      if (!value(depth)) return false;
      skip_blanks();
      if (peek() == ']') return step(), true;
      if (peek() != ',') return fail("expected ',' or ']'");
      ++at_;
    }
  }

  bool object(int depth) {
    if (!deeper(depth)) return false;
    if (peek() == '}') return step(), true;
    for (;;) {
      skip_blanks();
      if (peek() != '"') return fail("expected a field name in quotes");
      if (!string() || !expect(':') || !value(depth)) return false;
      skip_blanks();
      if (peek() == '}') return step(), true;
      if (peek() != ',') return fail("expected ',' or '}'");
      ++at_;
    }
  }

  std::string_view text_;
  size_t at_ = 0;
};

// Moves to the element or field that `step` names; false if there is none.
bool enter(Walker& w, const JsonStep& step) {
  w.skip_blanks();
  if (w.peek() != (step.is_index ? '[' : '{')) return false;
  w.step();
  for (size_t i = 0;; ++i) {
    w.skip_blanks();
    std::string_view name;
    if (w.peek() == ']' || w.peek() == '}' || w.done()) return false;
    if (!step.is_index && (!w.string(&name) || !w.expect(':'))) return false;
    if (step.is_index ? i == step.index : name == step.field) return true;
    if (!w.value(0)) return false;
    w.skip_blanks();
    if (w.peek() == ',') w.step();
  }
}

}  // namespace

std::optional<JsonFault> find_json_fault(std::string_view text) {
  Walker w(text);
  if (!w.value(0)) return w.fault;
  w.skip_blanks();
  if (w.done()) return std::nullopt;
  w.fail("expected the end after the JSON value");
  return w.fault;
}

size_t json_length(std::string_view text) {
  Walker w(text);
  return w.value(0) ? w.at() : 0;
}

size_t locate_json(std::string_view text, std::span<const JsonStep> path) {
  Walker w(text);
  w.skip_blanks();
  size_t found = w.at();
  for (const JsonStep& step : path) {
    if (!enter(w, step)) return found;
    w.skip_blanks();
    found = w.at();
  }
  return found;
}

JsonFields first_json_fields(std::string_view text) {
  Walker w(text);
  w.skip_blanks();
  while (w.peek() == '[' || w.peek() == ']' || w.peek() == ',') {
    w.step();
    w.skip_blanks();
  }
  JsonFields fields;
  if (w.peek() != '{') return fields;
  w.step();
  std::string_view name;
  do {
    w.skip_blanks();
    if (w.peek() != '"' || !w.string(&name) || !w.expect(':')) return fields;
    fields.names.push_back(name);
    if (!w.value(0)) return fields;
    w.skip_blanks();
  } while (w.expect(','));
  return fields;
}

uint64_t append_json_string(std::string& to, std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  uint64_t replaced = 0;
  to.push_back('"');
  while (!text.empty()) {
    unsigned char c = static_cast<unsigned char>(text[0]);
    size_t n = 1;
    if (c == '"' || c == '\\') {
      to.push_back('\\');
      to.push_back(text[0]);
    } else if (c == '\n') {
      to.append("\\n");
    } else if (c == '\t') {
      to.append("\\t");
    } else if (c == '\r') {
      to.append("\\r");
    } else if (c < 0x20) {
      to.append("\\u00");
      to.push_back(kHex[c >> 4]);
      to.push_back(kHex[c & 15]);
    } else if (c < 0x80) {
      to.push_back(text[0]);
    } else if (n = utf8_length(text); n > 0) {
      to.append(text.substr(0, n));
    } else {
      to.append("\xEF\xBF\xBD");
      ++replaced;
      n = 1;
    }
    text.remove_prefix(n);
  }
  to.push_back('"');
  return replaced;
}

uint64_t append_json_value(std::string& to, const ValueView& value) {
  switch (value.type) {
    case ValueView::Type::null:
      to.append("null");
      return 0;
    case ValueView::Type::integer: {
      char digits[24];
      to.append(digits, std::to_chars(digits, digits + sizeof digits, value.integer).ptr);
      return 0;
    }
    case ValueView::Type::string:
      return append_json_string(to, value.text);
    case ValueView::Type::row:
      to.append(value.text);
      return 0;
  }
  return 0;
}

}  // namespace assay::internal::formats
