#include "formats/csv_line.h"

namespace assay::internal::formats {

bool split_csv_line(TextCursor& c, char separator, std::vector<CsvField>& fields) {
  fields.clear();
  for (;;) {
    CsvField& f = fields.emplace_back();
    f.at = c.at();
    if (c.accept("\"")) {
      f.quoted = true;
      for (;;) {
        f.text += c.take_while([](char ch) { return ch != '"'; });
        if (!c.accept("\"")) return c.fail_at(f.at, "the field has no closing quote in its line");
        if (!c.accept("\"")) break;
        f.text += '"';
      }
    } else {
      f.text = c.take_while([&](char ch) { return ch != separator; });
      while (f.text.ends_with(' ')) f.text.pop_back();
    }
    if (c.done()) return true;
    if (!c.accept(std::string_view(&separator, 1)))
      return c.expected("a separator behind the quoted field");
    if (separator != '\t') c.skip_blanks();
  }
}

void append_csv_field(std::string& to, std::string_view text) {
  const bool blank = text.starts_with(' ') || text.ends_with(' ') || text.starts_with('\t');
  if (!text.empty() && !blank && text.find_first_of(",;\"\r\n") == std::string_view::npos) {
    to += text;
    return;
  }
  to += '"';
  for (const char c : text) {
    if (c == '"') to += '"';
    to += c;
  }
  to += '"';
}

}  // namespace assay::internal::formats
