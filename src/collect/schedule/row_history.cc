#include "collect/schedule/row_history.h"

#include <fmt/format.h>

#include <array>
#include <cctype>

namespace assay::internal::collect::schedule {

namespace {

// The value where a transaction has left no row; a row that it removed and put back meanwhile needs
// another one.
std::string tombstone(std::string_view txn) { return fmt::format("deleted by {}", txn); }

}  // namespace

std::string row_key(std::string_view table, const std::vector<std::string>& key) {
  std::string name(table);
  name += ':';
  for (size_t i = 0; i < key.size(); ++i) {
    if (i > 0) name += ',';
    for (const char c : key[i]) {
      if (key.size() > 1 && (c == ',' || c == '\\')) name += '\\';
      name += c;
    }
  }
  return name;
}

std::optional<RowName> row_name(const std::string& name) {
  const size_t colon = name.find(':');
  if (colon == std::string::npos) return std::nullopt;
  RowName row{name.substr(0, colon), {""}};
  for (size_t i = colon + 1; i < name.size(); ++i) {
    if (name[i] == ',')
      row.key.emplace_back();
    else
      row.key.back() += name[i] == '\\' && i + 1 < name.size() ? name[++i] : name[i];
  }
  // In a key of one column, commas and backslashes are not escaped.
  if (row.key.size() == 1) row.key = {name.substr(colon + 1)};
  return row;
}

std::string in_one_line(std::string_view sql, size_t most) {
  std::string line;
  for (const char c : sql)
    if (!std::isspace(static_cast<unsigned char>(c)))
      line += c;
    else if (!line.ends_with(' '))
      line += ' ';
  if (line.size() > most) line = line.substr(0, line.rfind(' ', most)) + " …";
  return line;
}

Cell cell_of(const Json& value) {
  if (value.is_null()) return {};
  if (value.is_int64()) return {Cell::Type::integer, value.integer(), {}};
  if (value.is_string()) return {Cell::Type::string, 0, value.text()};
  return {Cell::Type::string, 0, value.dump()};
}

void RowHistory::initial(const std::string& key, const std::string& row) {
  builder_.set_initial(ValueView::of(std::string_view(key)), ValueView::row(row));
}

RowOps::RowOps(const RowTxn& txn) : texts_(txn.ops.size()), rows_(txn.ops.size()) {
  std::map<std::string_view, size_t> last_removed;
  for (size_t i = 0; i < txn.ops.size(); ++i)
    if (txn.ops[i].kind == RowOperation::Kind::remove) last_removed[txn.ops[i].key] = i;
  for (size_t i = 0; i < txn.ops.size(); ++i) {
    const RowOperation& op = txn.ops[i];
    const ValueView key = ValueView::of(std::string_view(op.key));
    Op& to = ops_.emplace_back();
    switch (op.kind) {
      case RowOperation::Kind::read:
        to = op.stated ? Op::read_from(key, ValueView::row(op.row), op.source)
                       : Op::read(key, ValueView::row(op.row));
        break;
      case RowOperation::Kind::absent:
        to = Op::read(key, ValueView::null());
        break;
      case RowOperation::Kind::write:
        to = Op::write(key, ValueView::row(op.row));
        break;
      case RowOperation::Kind::remove:
        texts_[i][0] = tombstone(txn.name);
        if (last_removed[op.key] != i) texts_[i][0] += fmt::format(" ({})", i);
        to = Op::remove(key, ValueView::of(std::string_view(texts_[i][0])));
        break;
      case RowOperation::Kind::query:
        for (const auto& [of, row] : op.rows)
          rows_[i].emplace_back(ValueView::of(std::string_view(of)), ValueView::row(row));
        // All keys of the table begin like this.
        texts_[i] = {op.table + ":", op.table + ";"};
        to = Op::range(ValueView::of(std::string_view(texts_[i][0])),
                       ValueView::of(std::string_view(texts_[i][1])), rows_[i]);
        if (!op.where.empty()) to = Op::select(to.key, to.value, op.where, rows_[i]);
        break;
    }
    to.time = op.time;
  }
}

Status RowHistory::add(const RowTxn& txn) {
  builder_.begin_txn({.session = ValueView::of(std::string_view(txn.session)),
                      .name = txn.name,
                      .status = txn.status,
                      .begin = txn.begin,
                      .end = txn.end,
                      .meta = txn.meta,
                      .line = txn.line});
  const RowOps ops(txn);
  for (const Op& op : ops.ops()) builder_.add(op);
  return builder_.end_txn();
}

void RowHistory::order(const std::string& key, const std::vector<Version>& versions) {
  std::vector<StatedVersion> entries;
  for (const Version& v : versions) entries.push_back({.txn = v.txn, .final = !v.removed});
  builder_.known_order(ValueView::of(std::string_view(key)), entries);
}

std::string RowSink::completion(int64_t at, const std::string& source) {
  return Json({{"event", "complete"}, {"at", at}, {"source", source}}).dump();
}

void RowHistory::complete(int64_t at, const std::string& source) {
  builder_.event(at, completion(at, source), true);
}

}  // namespace assay::internal::collect::schedule
