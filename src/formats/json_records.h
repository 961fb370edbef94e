// JSON files that are one array of records, or a sequence of records: one record at a time through
// simdjson, so a file of any size needs memory for its longest record only. Include from sources
// only: simdjson.h is large.
#pragma once

#include <simdjson.h>

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "formats/input.h"
#include "formats/json_text.h"

namespace assay::internal::formats {

class JsonRecords {
 public:
  explicit JsonRecords(Input& input) : input_(input) {}

  // The next record, valid until the next call; false at the end.
  Result<bool> next(simdjson::dom::element& record);

  // Calls read(record) for each, up to the first error.
  template <class Read>
  Status each(Read read) {
    simdjson::dom::element record;
    for (;;) {
      const Result<bool> more = next(record);
      if (!more.ok()) return more.error();
      if (!*more) return Ok{};
      if (Status s = read(record); !s.ok()) return s;
    }
  }

  // The current record's text and place.
  std::string_view text() const { return text_; }
  uint64_t line() const { return line_; }
  // An error at the value of the current record that `path` leads to.
  Error error(std::span<const JsonStep> path, std::string message) const;
  Error error(std::initializer_list<JsonStep> path, std::string message) const {
    return error(std::span(path.begin(), path.size()), std::move(message));
  }
  Error expected(std::initializer_list<JsonStep> path, std::string_view what) const {
    return error(path, "expected " + std::string(what));
  }
  // An error in a result that was built from the current record.
  template <class Built>
  auto located(Built built) const {
    return input_.located(std::move(built));
  }

 private:
  // Skips blanks; '\0' at the end of the input.
  Result<char> peek();
  void consume(size_t size);
  // Length of the value that starts the window.
  Result<size_t> value_length();
  Error error_at(size_t offset, std::string message) const;

  Input& input_;
  simdjson::dom::parser parser_{kMaxLineBytes + 1};
  std::string_view text_;
  size_t unconsumed_ = 0;  // length of the record that the caller is looking at
  bool started_ = false;
  bool array_ = false;
  bool ended_ = false;
  uint64_t line_ = 1;  // of the window's first byte
  uint64_t column_ = 1;
};

// An integer of 64 bits or a string; false for anything else.
bool json_value(simdjson::dom::element e, ValueView& to);
// An integer of 64 bits, as a number or in a string.
bool json_integer(simdjson::dom::element e, int64_t& to);
// The field of an object, if it has it.
bool json_field(simdjson::dom::object object, std::string_view name, simdjson::dom::element& to);

}  // namespace assay::internal::formats
