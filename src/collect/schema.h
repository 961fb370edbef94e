// The tables of a workload. A key "table:row:column" of a table named here is that cell of a real
// SQL table, if the database has such tables; every other key is in a table of keys and values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::internal::collect {

struct Table {
  std::string name;
  std::vector<std::string> columns;
};

// A user's table whose rows are the keys of the history, "table:row"; a driver keeps it as
// assay_TABLE, with an additional column that names the writer of the version.
struct RowTable {
  std::string name;
  std::string key;  // the column of its primary key
};

inline constexpr std::string_view kVersionColumn = "assay_version";
// The name of that additional column in the history, which sorts after most names of columns.
inline constexpr std::string_view kWrittenBy = "written_by";

}  // namespace assay::internal::collect
