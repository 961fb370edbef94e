#include "formats/csv_line.h"

namespace assay::internal::formats {

namespace {

bool read_quoted(TextCursor& c, CsvField& f) {
  for (bool doubled = false;; doubled = true) {
    const std::string_view part = c.take_while([](char ch) { return ch != '"'; });
    if (!c.accept("\"")) return c.fail_at(f.at, "the field has no closing quote in its line");
    const bool more = c.accept("\"");
    if (!doubled && !more) {
      f.text = part;
      return true;
    }
    f.unquoted += part;
    if (!more) return true;
    f.unquoted += '"';
  }
}

}  // namespace

bool split_csv_line(TextCursor& c, char separator, std::vector<CsvField>& fields) {
  for (size_t count = 0;;) {
    if (count == fields.size()) fields.emplace_back();
    CsvField& f = fields[count++];
    f.at = c.at();
    f.quoted = c.accept("\"");
    f.unquoted.clear();
    f.text = {};
    if (f.quoted) {
      if (!read_quoted(c, f)) return false;
    } else {
      f.text = c.take_while([&](char ch) { return ch != separator; });
      while (f.text.ends_with(' ')) f.text.remove_suffix(1);
    }
    if (c.done()) {
      fields.resize(count);
      break;
    }
    if (!c.accept(std::string_view(&separator, 1)))
      return c.expected("a separator after the quoted field");
    if (separator != '\t') c.skip_blanks();
  }
  // Now that fields no longer move.
  for (CsvField& f : fields)
    if (!f.unquoted.empty()) f.text = f.unquoted;
  return true;
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
