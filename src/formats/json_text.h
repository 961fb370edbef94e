// JSON as text, without a document model: finding faults and positions in it, and writing strings.
// Values are read by simdjson, which reports neither where a document is broken nor where a value
// was; so when something is wrong, the functions here go through the text once more, slowly.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/history.h"

namespace assay::internal::formats {

// Deepest nesting of arrays and objects accepted anywhere.
inline constexpr int kMaxJsonDepth = 64;

struct JsonFault {
  size_t offset = 0;  // from 0
  std::string message;
  bool cut_off = false;  // the text ends too early and is valid until then
};

// The first fault of `text` as a single JSON value with blanks around it.
std::optional<JsonFault> find_json_fault(std::string_view text);

// The number of characters of the JSON value at the beginning of `text`; 0 if there is none.
size_t json_length(std::string_view text);

// One step into a document: a field of an object or an element of an array.
struct JsonStep {
  JsonStep(std::string_view f) : field(f) {}
  JsonStep(const char* f) : field(f) {}
  JsonStep(size_t i) : index(i), is_index(true) {}
  std::string_view field;
  size_t index = 0;
  bool is_index = false;
};

// Offset of the value that `path` leads to in valid JSON; of the deepest value found if the path
// does not exist.
size_t locate_json(std::string_view text, std::span<const JsonStep> path);

// The names of the fields of the first object of `text`, as far as the text goes; for detection.
// Skips the brackets of arrays before it.
struct JsonFields {
  std::vector<std::string_view> names;
  bool has(std::string_view name) const {
    return std::find(names.begin(), names.end(), name) != names.end();
  }
};
JsonFields first_json_fields(std::string_view text);

// Appends `text` as a JSON string. Bytes that are not UTF-8 become U+FFFD and are counted.
uint64_t append_json_string(std::string& to, std::string_view text);
// Appends null, 42, a JSON string, or the object that a row is.
uint64_t append_json_value(std::string& to, const ValueView& value);

}  // namespace assay::internal::formats
