#include "evidence/binlog_rows.h"

namespace assay::internal::evidence {
namespace {

constexpr uint8_t kVarchar = 15, kBlob = 252;

uint8_t byte_at(std::string_view bytes, size_t i) { return static_cast<uint8_t>(bytes[i]); }

// Returns the length of each column's length prefix; nothing if some column has no prefix.
std::optional<std::vector<size_t>> widths(const BinlogTable& table) {
  std::vector<size_t> all;
  size_t at = 0;
  for (size_t column = 0; column < table.types.size(); ++column) {
    const uint8_t type = byte_at(table.types, column);
    if (type == kVarchar && at + 2 <= table.metadata.size()) {
      const size_t longest = byte_at(table.metadata, at) | byte_at(table.metadata, at + 1) << 8;
      all.push_back(longest > 255 ? 2 : 1);
      at += 2;
    } else if (type == kBlob && at < table.metadata.size()) {
      all.push_back(byte_at(table.metadata, at++));
    } else {
      return std::nullopt;
    }
  }
  return all;
}

bool take_text(std::string_view& bytes, size_t width, std::string& to) {
  if (bytes.size() < width) return false;
  size_t size = 0;
  for (size_t i = width; i-- > 0;) size = size << 8 | byte_at(bytes, i);
  bytes.remove_prefix(width);
  if (bytes.size() < size) return false;
  to = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return true;
}

}  // namespace

std::optional<std::vector<BinlogRow>> binlog_rows(const BinlogTable& table,
                                                  std::string_view bytes) {
  const auto width = widths(table);
  if (!width || width->empty()) return std::nullopt;
  const size_t nulls = (width->size() + 7) / 8;
  std::vector<BinlogRow> rows;
  while (!bytes.empty()) {
    if (bytes.size() < nulls) return std::nullopt;
    const std::string_view null = bytes.substr(0, nulls);
    bytes.remove_prefix(nulls);
    BinlogRow& row = rows.emplace_back(width->size());
    for (size_t column = 0; column < row.size(); ++column) {
      if ((byte_at(null, column / 8) >> (column % 8) & 1) != 0) continue;
      if (!take_text(bytes, (*width)[column], row[column].emplace())) return std::nullopt;
    }
  }
  return rows;
}

}  // namespace assay::internal::evidence
