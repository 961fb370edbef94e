#include "evidence/test_decoding.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "history/condition.h"

namespace assay::internal::evidence {
namespace {

constexpr std::string_view kMessage = "message: transactional: 1 prefix: assay,";
constexpr std::string_view kContent = " content:";
constexpr std::string_view kTable = "table ";
constexpr std::string_view kPublic = "public.";

bool take(std::string_view& text, std::string_view start) {
  if (!text.starts_with(start)) return false;
  text.remove_prefix(start.size());
  return true;
}

// A text between quotes; quotes inside are doubled.
std::string take_quoted(std::string_view& text, char quote) {
  std::string inside;
  text.remove_prefix(1);
  for (; !text.empty(); text.remove_prefix(1)) {
    if (text[0] == quote && (text.size() == 1 || text[1] != quote)) break;
    if (text[0] == quote) text.remove_prefix(1);
    inside += text[0];
  }
  if (!text.empty()) text.remove_prefix(1);
  return inside;
}

// name[type]:'value' or name[type]:null, and the blank after it. A value that did not change may
// be left out of the log if it is stored elsewhere.
std::optional<LoggedCell> take_cell(std::string_view& text) {
  LoggedCell cell;
  if (text.starts_with('"')) {
    cell.column = take_quoted(text, '"');
  } else {
    const size_t type = text.find('[');
    if (type == std::string_view::npos) return std::nullopt;
    cell.column = text.substr(0, type);
    text.remove_prefix(type);
  }
  size_t depth = 0, at = 0;
  for (; at < text.size(); ++at) {  // types may contain brackets
    if (text[at] == '[') ++depth;
    if (text[at] == ']' && --depth == 0) break;
  }
  text.remove_prefix(std::min(at + 1, text.size()));
  if (!take(text, ":")) return std::nullopt;
  cell.unchanged = take(text, "unchanged-toast-datum");
  cell.quoted = text.starts_with('\'');
  if (cell.quoted) {
    cell.text = take_quoted(text, '\'');
  } else if (!cell.unchanged) {
    const std::string_view bare = text.substr(0, text.find(' '));
    if (bare != "null") cell.text = bare;
    text.remove_prefix(bare.size());
  }
  take(text, " ");
  return cell;
}

void take_cells(std::string_view& text, std::vector<LoggedCell>& to) {
  while (!text.empty() && !text.starts_with("new-tuple: ")) {
    auto cell = take_cell(text);
    if (!cell) return;
    to.push_back(std::move(*cell));
  }
}

// The end of the table's name: the first colon outside of quotes.
size_t end_of_table(std::string_view text) {
  bool inside = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') inside = !inside;
    if (!inside && text[i] == ':') return i;
  }
  return std::string_view::npos;
}

}  // namespace

// table TABLE: INSERT: COLUMN COLUMN…
std::optional<LoggedRow> logged_row(std::string_view text) {
  if (!take(text, kTable)) return std::nullopt;
  const size_t colon = end_of_table(text);
  if (colon == std::string_view::npos) return std::nullopt;
  LoggedRow row;
  row.table = text.substr(0, colon);
  text.remove_prefix(colon);
  if (take(text, ": INSERT: "))
    row.kind = LoggedRow::Kind::insert;
  else if (take(text, ": UPDATE: "))
    row.kind = LoggedRow::Kind::update;
  else if (take(text, ": DELETE: "))
    row.kind = LoggedRow::Kind::remove;
  else if (take(text, ": TRUNCATE:"))
    row.kind = LoggedRow::Kind::truncate;
  else
    return std::nullopt;
  if (row.kind == LoggedRow::Kind::truncate) return row;
  if (take(text, "old-key: ")) {
    take_cells(text, row.old_key);
    if (!take(text, "new-tuple: ")) return std::nullopt;
  }
  take_cells(text, row.cells);
  return row;
}

std::optional<std::string_view> logged_message(std::string_view line) {
  if (!take(line, kMessage)) return std::nullopt;
  const size_t content = line.find(kContent);
  if (content == std::string_view::npos) return std::nullopt;
  return line.substr(content + kContent.size());
}

// A row in the history's form: the columns of the table, and the writer of the version.
void TestDecoding::row_of(const collect::RowTable& table, const LoggedRow& row) {
  const auto name_of = [&](const std::vector<LoggedCell>& cells) {
    const auto key = std::ranges::find(cells, table.key, &LoggedCell::column);
    return key == cells.end() || !key->text ? Value() : Value::of(table.name + ":" + *key->text);
  };
  if (!row.old_key.empty()) txn_.changes.push_back({name_of(row.old_key), {}});
  const Value name = name_of(row.cells);
  if (row.kind == LoggedRow::Kind::remove) {
    txn_.changes.push_back({name, {}});
    return;
  }
  Row columns;
  for (const LoggedCell& cell : row.cells) {
    lacks_versions_ = lacks_versions_ || cell.unchanged;
    Cell holds;
    if (cell.text && cell.quoted) holds = {Cell::Type::string, 0, *cell.text};
    if (cell.text && !cell.quoted) {
      holds.type = Cell::Type::integer;
      std::from_chars(cell.text->data(), cell.text->data() + cell.text->size(), holds.integer);
    }
    if (cell.column == collect::kVersionColumn)
      columns.emplace_back(collect::kWrittenBy, std::move(holds));
    else if (!cell.column.starts_with("assay_"))
      columns.emplace_back(cell.column, std::move(holds));
  }
  txn_.changes.push_back({name, Value::row(row_text(std::move(columns)))});
}

void TestDecoding::row(const LoggedRow& row) {
  std::string_view table = row.table;
  if (row.kind == LoggedRow::Kind::truncate || !take(table, kPublic)) return;
  for (const collect::RowTable& own : tables_)
    if (table == "assay_" + own.name) return row_of(own, row);
  std::string key;
  Cells cells;
  for (const LoggedCell& cell : row.cells) {
    if (cell.column == "k")
      key = cell.text.value_or("");
    else if (!cell.unchanged)  // assay writes no numbers
      cells.emplace_back(cell.column, cell.quoted ? cell.text : std::nullopt);
  }
  if (row.kind == LoggedRow::Kind::remove)
    rows_.erase(table, key, txn_.changes);
  else
    rows_.put(table, key, cells, txn_.changes);
}

std::optional<LoggedTxn> TestDecoding::line(std::string_view text, std::string_view position) {
  if (take(text, "BEGIN")) {
    take(text, " ");
    txn_ = {};
    txn_.server_id = text;
  } else if (const auto changed = logged_row(text)) {
    row(*changed);
  } else if (const auto message = logged_message(text)) {
    txn_.name = message_ = *message;
  } else if (take(text, "COMMIT")) {
    txn_.position = position;
    return std::exchange(txn_, {});
  }
  return std::nullopt;
}

}  // namespace assay::internal::evidence
