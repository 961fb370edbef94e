// One line of a table with separators: fields, in quotes if they contain the separator or a quote.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/text_cursor.h"

namespace assay::internal::formats {

struct CsvField {
  std::string_view text;  // part of the line, or `unquoted`
  size_t at = 0;          // the offset in the line at which it begins
  bool quoted = false;
  std::string unquoted;  // used if it contained doubled quotes
  bool empty() const { return text.empty() && !quoted; }
};

// Splits the line that begins at the cursor into fields; false at a fault. The fields are valid as
// long as the line is, and until `fields` is used again for another line.
bool split_csv_line(TextCursor& c, char separator, std::vector<CsvField>& fields);

// Appends a field, in quotes if it needs them.
void append_csv_field(std::string& to, std::string_view text);

}  // namespace assay::internal::formats
