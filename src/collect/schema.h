// The tables of a workload. A key "table:row:column" of a table named here lives in that cell of a real SQL
// table, where the database has such; every other key in a table of keys and values.
#pragma once

#include <string>
#include <vector>

namespace assay::internal::collect {

struct Table {
  std::string name;
  std::vector<std::string> columns;
};

}  // namespace assay::internal::collect
