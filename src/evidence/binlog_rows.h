// Rows as MariaDB's binary log has them: for each the columns that are NULL, then the bytes of the
// others. Our tables have texts alone, of two kinds: VARBINARY, its length in one or two bytes in
// front, and BLOB, its length in as many as the table's description says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::internal::evidence {

// What the log says of a table before it has rows of it.
struct BinlogTable {
  std::string database, name;
  std::string types;     // a byte each column
  std::string metadata;  // after one another, of as many bytes as the type takes
};

using BinlogRow = std::vector<std::optional<std::string>>;

// The rows of an event, of an update those before and after in turn. Nothing if the bytes are not
// of such a table.
std::optional<std::vector<BinlogRow>> binlog_rows(const BinlogTable& table, std::string_view bytes);

}  // namespace assay::internal::evidence
