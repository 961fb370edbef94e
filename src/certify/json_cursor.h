// Reads JSON whose shape is known beforehand, strictly and in one pass.
//
//   cursor.object(Field{"read", [&] { read = cursor.index(); }}, Field{"other", [&] { other = cursor.index(); }});
//
// Nothing is kept but what the caller keeps, and depth is the caller's: input cannot make it
// recurse. After the first error every call returns at once with an empty value, so callers ask
// only at the end (and in what they do themselves) whether all was well.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "assay/result.h"

namespace assay::internal::certify {

// A field of an object, and what reads its value.
template <class Read>
struct Field {
  std::string_view name;
  Read read;
};
template <class Read>
Field(std::string_view, Read) -> Field<Read>;

class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) : text_(text) {}

  bool ok() const { return !error_; }
  // The first error, with its position.
  Error error() const;
  void fail(std::string message);

  // Calls `read` of each field that is there, in any order. Other fields and repeated ones are errors. Returns a bit per
  // field present, in the order of the arguments.
  template <class... Reads>
  uint32_t object(Field<Reads>... fields) {
    uint32_t seen = 0;
    if (!expect('{')) return seen;
    for (bool more = !take('}'); more && ok(); more = next('}')) {
      const size_t found = field({fields.name...}, seen);
      if (!ok()) break;
      seen |= 1u << found;
      size_t at = 0;
      (void)((at++ == found ? (fields.read(), true) : false) || ...);
    }
    return seen;
  }

  template <class ReadElement>
  void array(ReadElement read_element) {
    if (!expect('[')) return;
    for (bool more = !take(']'); more && ok(); more = next(']')) read_element();
  }

  // A whole number from 0 to 2^32 - 2.
  uint32_t index();
  int64_t integer();
  std::string string();
  bool boolean();
  // True, and past it, if `null` comes next.
  bool take_null();
  // What comes next, without taking it; 0 at the end.
  char peek();
  // Nothing but blanks may follow.
  void end();

 private:
  bool expect(char c);
  bool take(char c);
  bool next(char close);
  size_t field(std::initializer_list<std::string_view> names, uint32_t seen);
  void skip_blanks();
  bool take_word(std::string_view word);
  std::string_view number();
  void escape(std::string& out);
  uint32_t hex4();

  std::string_view text_;
  size_t at_ = 0;
  std::optional<std::string> error_;
  size_t error_at_ = 0;
};

// `text` as a JSON string, quotes included.
void append_json_string(std::string_view text, std::string& out);

}  // namespace assay::internal::certify
