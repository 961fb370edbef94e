// The records of a JSON file, read with simdjson. Include from sources only: simdjson.h is large.
#pragma once

#include <simdjson.h>

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "formats/json_text.h"
#include "formats/record_text.h"

namespace assay::internal::formats {

class JsonRecords : public RecordText {
 public:
  explicit JsonRecords(Input& input, size_t most = kMaxLineBytes)
      : RecordText(input, true, most), parser_(most + 1) {}

  // Reads the next record, valid until the next call; false at the end.
  Result<bool> next(simdjson::dom::element& record);

  // Calls read(record) for each record, up to the first error.
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

  using RecordText::error;
  // An error at the value of the current record that `path` leads to.
  Error error(std::span<const JsonStep> path, std::string message) const;
  Error error(std::initializer_list<JsonStep> path, std::string message) const {
    return error(std::span(path.begin(), path.size()), std::move(message));
  }
  Error expected(std::initializer_list<JsonStep> path, std::string_view what) const {
    return error(path, "expected " + std::string(what));
  }

 private:
  simdjson::dom::parser parser_;
};

// Reads a 64-bit integer or a string; false for anything else.
bool json_value(simdjson::dom::element e, ValueView& to);
// Reads a 64-bit integer, as a number or in a string.
bool json_integer(simdjson::dom::element e, int64_t& to);
// Finds the field of an object; false if it is missing.
bool json_field(simdjson::dom::object object, std::string_view name, simdjson::dom::element& to);

}  // namespace assay::internal::formats
