// Rows of the tables that SQL drivers write to (collect/drivers/sql.h), as changes of keys.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "evidence/log.h"

namespace assay::internal::evidence {

// The columns of a row after a change, without its key: names and texts, nothing for NULL.
using Cells = std::vector<std::pair<std::string_view, std::optional<std::string>>>;

class Rows {
 public:
  // The row with this key of a table was inserted or updated.
  void put(std::string_view table, const std::string& key, const Cells& cells,
           std::vector<Change>& to);
  void erase(std::string_view table, const std::string& key, std::vector<Change>& to);

 private:
  void put_list(const std::string& key, const std::string& text, std::vector<Change>& to);

  std::unordered_map<std::string, std::string> lists_;
  // The non-empty cells of the workload's tables: a log has whole rows, and only some of their
  // cells changed.
  std::unordered_map<std::string, std::string> cells_;
};

}  // namespace assay::internal::evidence
