// Rows as in MariaDB's binary log: each has the columns that are NULL, then the bytes of the
// others. Tables of assay have only texts, of two kinds: VARBINARY, after its length in one or two
// bytes, and BLOB, after its length in as many bytes as the table's description says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::internal::evidence {

// The description of a table, which the log has before the table's rows.
struct BinlogTable {
  std::string database, name;
  std::string types;     // one byte per column
  std::string metadata;  // after one another, of as many bytes as the type takes
};

using BinlogRow = std::vector<std::optional<std::string>>;

// The rows of an event; for an update, those before and after alternate. Nothing if the bytes do
// not describe such a table.
std::optional<std::vector<BinlogRow>> binlog_rows(const BinlogTable& table, std::string_view bytes);

}  // namespace assay::internal::evidence
