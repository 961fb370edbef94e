// Rows in the native formats: JSON objects of columns.
#pragma once

#include <simdjson.h>

#include <optional>
#include <string>
#include <string_view>

namespace assay::internal::formats {

// In the form of a history's row (ValueView::row).
std::string row_of_json(simdjson::dom::object object);

// The row that `text` begins with, and how many characters it takes; nothing if that is no JSON
// object.
struct RowText {
  std::string row;
  size_t length = 0;
};
std::optional<RowText> row_at(std::string_view text);

}  // namespace assay::internal::formats
