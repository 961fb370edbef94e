// Tables of what an application did: a header line names the columns, every other line is an
// operation.
//
//   session,txn,op,key,value,time
//   web-1,17,read,x,1,1000
//   web-1,17,write,x,2,1010
//   web-1,17,commit,,,1020
#include <array>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "formats/csv_line.h"
#include "formats/registry.h"
#include "formats/text_lines.h"
#include "formats/trace.h"
#include "formats/utf8.h"

namespace assay::internal::formats {
namespace {

constexpr std::string_view kSeparators = ",;\t";
using Columns = std::array<size_t, kTraceColumns>;  // the index of each column; npos: it is missing

// Finds the separator and the index of each column; false if the line is not a header.
bool parse_header(std::string_view line, char& separator, Columns& columns) {
  for (char s : kSeparators) {
    TextCursor c(line);
    std::vector<CsvField> fields;
    columns.fill(std::string_view::npos);
    if (!split_csv_line(c, s, fields)) continue;
    for (size_t i = 0; i < fields.size(); ++i)
      if (const auto column = trace_column(fields[i].text))
        columns[static_cast<size_t>(*column)] = i;
    separator = s;
    const auto has = [&](TraceColumn column) {
      return columns[static_cast<size_t>(column)] != line.npos;
    };
    if (has(TraceColumn::session) && has(TraceColumn::op) && has(TraceColumn::key)) return true;
  }
  return false;
}

bool detect_csv(const Source& source) {
  char separator = 0;
  Columns columns{};
  return parse_header(first_line(source.head()), separator, columns);
}

class CsvReader {
 public:
  CsvReader(Input& input, unsigned threads) : input_(input), history_(input.budget(), threads) {}

  Result<History> run() {
    bool header = true;
    auto read = for_each_line(input_, [&](TextCursor& c) {
      if (!is_utf8(c.line())) return invalid_utf8(c);
      if (std::exchange(header, false)) return read_header(c);
      return read_row(c);
    });
    if (!read.ok()) return read.error();
    return input_.located(std::move(history_).finish());
  }

 private:
  bool invalid_utf8(TextCursor& c) {
    size_t at = 0;
    while (size_t n = utf8_length(c.line().substr(at))) at += n;
    return c.fail_at(at, "invalid UTF-8");
  }

  bool read_header(TextCursor& c) {
    return parse_header(c.line(), separator_, columns_) ||
           c.fail_at(0,
                     "expected a header with the columns session, op and key, and optionally txn, "
                     "value, time, status");
  }

  bool read_row(TextCursor& c) {
    c.seek(0);
    if (!split_csv_line(c, separator_, fields_)) return false;
    TraceRow row;
    for (size_t column = 0; column < kTraceColumns; ++column) {
      if (columns_[column] >= fields_.size() || fields_[columns_[column]].empty()) continue;
      read_field(fields_[columns_[column]], static_cast<TraceColumn>(column), row.fields[column]);
    }
    if (history_.add(row, input_.line())) return true;
    const size_t place = columns_[static_cast<size_t>(history_.fault().column)];
    return c.fail_at(place < fields_.size() ? fields_[place].at : c.line().size(),
                     history_.fault().message);
  }

  void read_field(const CsvField& f, TraceColumn column, TraceField& to) {
    to.present = true;
    const bool text =
        column == TraceColumn::txn || column == TraceColumn::op || column == TraceColumn::status;
    to.value = text ? ValueView::of(f.text) : value_of(f.text, f.quoted);
    if (column != TraceColumn::value || f.quoted || !f.text.starts_with('[') ||
        !f.text.ends_with(']'))
      return;
    to.list = true;
    elements_.clear();
    TextCursor c(f.text.substr(1, f.text.size() - 2));
    for (c.skip_blanks(); !c.done(); c.skip_blanks())
      elements_.push_back(
          value_of(c.take_while([](char ch) { return ch != ' ' && ch != '\t'; }), false));
    to.elements = elements_;
  }

  // Text that looks like an integer is one unless it is quoted.
  static ValueView value_of(std::string_view text, bool quoted) {
    int64_t v = 0;
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, v);
    if (!quoted && parsed.ec == std::errc{} && parsed.ptr == end) return ValueView::of(v);
    return ValueView::of(text);
  }

  Input& input_;
  char separator_ = ',';
  Columns columns_{};
  std::vector<CsvField> fields_;
  std::vector<ValueView> elements_;
  TraceHistory history_;
};

Result<History> read_csv(Source& source, Notes&) {
  return CsvReader(*source.input, source.threads).run();
}

}  // namespace

constexpr Format kCsv = {
    .name = "csv",
    .summary = "a table of an application's operations: session, txn, op, key, value, time",
    .detect = detect_csv,
    .read = read_csv,
};

}  // namespace assay::internal::formats
