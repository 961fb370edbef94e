#include "evidence/rows.h"

#include <algorithm>

#include "collect/drivers/text_values.h"

namespace assay::internal::evidence {
namespace {

constexpr std::string_view kPrefix = "assay_";

// The key of the cell in the history: "table:row:column".
std::string cell_name(std::string_view table, std::string_view row, std::string_view column) {
  std::string name(table.substr(kPrefix.size()));
  return name.append(":").append(row).append(":").append(column);
}

}  // namespace

// The appended elements are those after the list's previous content. A list that lost elements may
// share less with it.
void Rows::put_list(const std::string& key, const std::string& text, std::vector<Change>& to) {
  std::string& before = lists_[key];
  const bool grown = text.size() > before.size() && !before.empty() && text.starts_with(before) &&
                     text[before.size()] == ',';
  std::vector<Value> added =
      collect::decode_list(grown ? std::string_view(text).substr(before.size() + 1) : text);
  size_t shared = 0;
  if (!grown) {
    const std::vector<Value> old = collect::decode_list(before);
    while (shared < std::min(old.size(), added.size()) && old[shared] == added[shared]) ++shared;
  }
  const Value name = collect::decode_key(key);
  for (size_t i = shared; i < added.size(); ++i) to.push_back({name, std::move(added[i])});
  before = text;
}

void Rows::put(std::string_view table, const std::string& key, const Cells& cells,
               std::vector<Change>& to) {
  if (!table.starts_with(kPrefix) || cells.empty() || table == "assay_run") return;
  if (table == "assay_list") {
    put_list(key, cells.front().second.value_or(""), to);
    return;
  }
  if (table == "assay_kv") {
    const auto& text = cells.front().second;
    to.push_back({collect::decode_key(key), text ? collect::decode_value(*text) : Value()});
    return;
  }
  for (const auto& [column, text] : cells) {
    std::string name = cell_name(table, key, column);
    const auto known = cells_.find(name);
    if (text ? known != cells_.end() && known->second == *text : known == cells_.end()) continue;
    to.push_back({Value::of(name), text ? collect::decode_value(*text) : Value()});
    if (text)
      cells_[std::move(name)] = *text;
    else
      cells_.erase(known);
  }
}

void Rows::erase(std::string_view table, const std::string& key, std::vector<Change>& to) {
  // Cells are emptied, and lists only grow.
  if (table == "assay_kv") to.push_back({collect::decode_key(key), {}});
}

}  // namespace assay::internal::evidence
