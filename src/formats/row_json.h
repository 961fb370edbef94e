// Rows in the native formats: JSON objects of columns.
#pragma once

#include <simdjson.h>

#include <optional>
#include <string>
#include <string_view>

namespace assay::internal::formats {

// The row as a history stores it (ValueView::row).
std::string row_of_json(simdjson::dom::object object);

// The row with which `text` begins, and its number of characters; nullopt if the text does not
// begin with a JSON object.
struct RowText {
  std::string row;
  size_t length = 0;
};
std::optional<RowText> row_at(std::string_view text);

}  // namespace assay::internal::formats
