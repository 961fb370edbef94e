// One line of a table with separators: fields, in quotes where they hold the separator or a quote.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/text_cursor.h"

namespace assay::internal::formats {

struct CsvField {
  std::string_view text;  // in the line, or in `unquoted`
  size_t at = 0;          // where it begins in the line
  bool quoted = false;
  std::string unquoted;  // if quotes were doubled in it
  bool empty() const { return text.empty() && !quoted; }
};

// The fields of the line that begins at the cursor; false at a fault. They are good while the line
// is, and until `fields` is changed, which is used again line after line.
bool split_csv_line(TextCursor& c, char separator, std::vector<CsvField>& fields);

// Appends a field, in quotes where it needs them.
void append_csv_field(std::string& to, std::string_view text);

}  // namespace assay::internal::formats
