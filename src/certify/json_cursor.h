// JSON whose shape is known beforehand: an object is described once, and the description both reads
// and writes it.
//
//   template <class Json>
//   void bad_read(Json& json, auto& claim) {
//     json.object(kOneKind, "a bad read needs read and other",
//                 Field("read", [&] { json.index(claim.read); }),
//                 Field("other", [&] { json.index_or_null(claim.other); }));
//   }
//
// Json is JsonCursor, which reads strictly and in one pass, or JsonWriter. Nothing is kept except
// by the caller, and the caller determines the depth: input cannot cause recursion. After the first
// error every call of the cursor returns at once and sets nothing useful, so callers ask only at
// the end (and before using a value themselves) whether all was well.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "assay/result.h"

namespace assay::internal::certify {

// Objects may be of several kinds, with different fields; in a set of kinds each is a bit.
constexpr int kOneKind = 0;
template <class... Kind>
constexpr uint32_t kinds(Kind... kind) {
  return (0u | ... | (1u << static_cast<uint32_t>(kind)));
}

// A field of an object, and the function that reads or writes its value. Objects of every kind have
// it, unless stated otherwise.
template <class Value>
class Field {
 public:
  Field(std::string_view name, Value value) : name_(name), value_(value) {}

  // Objects of these kinds have it.
  template <class... Kind>
  Field needed_by(Kind... kind) const {
    Field field = *this;
    field.needed_ = kinds(kind...);
    return field;
  }
  // Objects of these kinds may also have it; the one to be written does if `present`.
  template <class... Kind>
  Field allowed_in(bool present, Kind... kind) const {
    Field field = *this;
    if (field.needed_ == kEvery) field.needed_ = 0;
    field.allowed_ = sizeof...(kind) == 0 ? kEvery : kinds(kind...);
    field.present_ = present;
    return field;
  }

  std::string_view name() const { return name_; }
  void value() const { value_(); }
  bool fits(uint32_t kind, bool there) const {
    return there ? ((needed_ | allowed_) & kind) != 0 : (needed_ & kind) == 0;
  }
  bool is_written(uint32_t kind) const {
    return (needed_ & kind) != 0 || (present_ && (allowed_ & kind) != 0);
  }

 private:
  static constexpr uint32_t kEvery = ~0u;
  std::string_view name_;
  Value value_;
  uint32_t needed_ = kEvery, allowed_ = 0;
  bool present_ = false;
};

class JsonCursor {
 public:
  static constexpr bool kReads = true;
  explicit JsonCursor(std::string_view text) : text_(text) {}

  bool ok() const { return !error_; }
  // The first error, with its position.
  Error error() const;
  void fail(std::string message);

  // Reads the fields that are there, in any order. An unknown field and a repeated one are errors.
  // So is an object of this kind that lacks a field it needs or has a field of another kind: then
  // the message is `expected`. The kind is read after the fields, which may set it. Returns a bit
  // for each field present, in the order of the arguments.
  template <class Kind, class... Value>
  uint32_t object(const Kind& kind, std::string_view expected, Field<Value>... fields) {
    uint32_t seen = 0;
    if (!expect('{')) return seen;
    for (bool more = !take('}'); more && ok(); more = next('}')) {
      const size_t found = field({fields.name()...}, seen);
      if (!ok()) break;
      seen |= 1u << found;
      size_t at = 0;
      (void)((at++ == found ? (fields.value(), true) : false) || ...);
    }
    size_t at = 0;
    if (!(fields.fits(kinds(kind), (seen >> at++ & 1) != 0) && ...)) fail(std::string(expected));
    return seen;
  }

  // Calls `element` for each element with a new one at the end of `to`. The last two arguments are
  // blanks that a writer adds.
  template <class Elements, class Element>
  void array(Elements& to, Element element, std::string_view = {}, std::string_view = {}) {
    each([&] { element(to.emplace_back()); });
  }
  // An array of two elements.
  template <class First, class Second>
  void pair(First first, Second second, std::string_view expected) {
    size_t count = 0;
    each([&] {
      if (count == 0) first();
      if (count == 1) second();
      if (++count > 2) fail(std::string(expected));
    });
    if (count != 2) fail(std::string(expected));
  }
  // Sets a value that follows from the fields that were read. A writer changes nothing.
  template <class Value>
  static void set(Value& to, std::type_identity_t<Value> value) {
    to = value;
  }
  // Whether an array comes next. A writer gets the answer as the argument.
  bool begins_array(bool) { return peek() == '['; }

  // A whole number from 0 to 2^32 - 2.
  void index(uint32_t& to);
  void index_or_null(uint32_t& to);
  void integer(int64_t& to);
  void string(std::string& to);
  void flag(bool& to);
  // The next character, without taking it; 0 at the end.
  char peek();
  // Checks that only blanks follow.
  void end();

 private:
  template <class ReadElement>
  void each(ReadElement read_element) {
    if (!expect('[')) return;
    for (bool more = !take(']'); more && ok(); more = next(']')) read_element();
  }
  bool expect(char c);
  bool take(char c);
  bool next(char close);
  size_t field(std::initializer_list<std::string_view> names, uint32_t seen);
  void skip_blanks();
  bool take_word(std::string_view word);
  template <class Number>
  void number(Number& to, Number most, std::string_view expected);
  std::string_view digits();
  void escape(std::string& out);
  uint32_t hex4();

  std::string_view text_;
  size_t at_ = 0;
  std::optional<std::string> error_;
  size_t error_at_ = 0;
};

// The same functions, which write what they are given.
class JsonWriter {
 public:
  static constexpr bool kReads = false;

  std::string take() { return std::move(out_); }
  void fail(std::string_view) {}

  template <class Kind, class... Value>
  uint32_t object(const Kind& kind, std::string_view, Field<Value>... fields) {
    bool first = true;
    out_ += '{';
    const auto write = [&](const auto& field) {
      if (!field.is_written(kinds(kind))) return;
      separate(first);
      out_ += '"';
      out_ += field.name();
      out_ += "\":";
      field.value();
    };
    (write(fields), ...);
    out_ += '}';
    return ~0u;
  }

  template <class Elements, class Element>
  void array(const Elements& from, Element element, std::string_view before_each = {},
             std::string_view before_end = {}) {
    bool first = true;
    out_ += '[';
    for (const auto& one : from) {
      separate(first);
      out_ += before_each;
      element(one);
    }
    out_ += before_end;
    out_ += ']';
  }
  template <class First, class Second>
  void pair(First first, Second second, std::string_view) {
    out_ += '[';
    first();
    out_ += ',';
    second();
    out_ += ']';
  }
  template <class Value>
  static void set(const Value&, std::type_identity_t<Value>) {}
  static bool begins_array(bool is_array) { return is_array; }

  void index(uint32_t i) { integer(i); }
  void index_or_null(uint32_t i);
  void integer(int64_t i);
  void string(std::string_view text);
  void flag(bool value) { out_ += value ? "true" : "false"; }

 private:
  void separate(bool& first) {
    if (!first) out_ += ',';
    first = false;
  }

  std::string out_;
};

}  // namespace assay::internal::certify
