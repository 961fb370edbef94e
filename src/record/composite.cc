#include "record/composite.h"

#include <utility>

namespace assay::internal::record {
namespace {

// The elements between two brackets, with commas between. Inside quotes a backslash takes the next
// character unchanged, and two quotes are one.
std::optional<std::vector<std::optional<std::string>>> split(std::string_view text, char open,
                                                             char close) {
  if (text.size() < 2 || text.front() != open || text.back() != close) return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::vector<std::optional<std::string>> cells;
  std::optional<std::string> cell;
  bool inside = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      const bool doubled = inside && i + 1 < text.size() && text[i + 1] == '"';
      if (!cell) cell.emplace();
      if (doubled) {
        *cell += text[++i];
      } else {
        inside = !inside;
      }
    } else if (c == '\\' && i + 1 < text.size()) {
      if (!cell) cell.emplace();
      *cell += text[++i];
    } else if (c == ',' && !inside) {
      cells.push_back(std::exchange(cell, std::nullopt));
    } else {
      if (!cell) cell.emplace();
      *cell += c;
    }
  }
  if (inside) return std::nullopt;
  cells.push_back(std::move(cell));
  return cells;
}

}  // namespace

std::optional<std::vector<std::optional<std::string>>> cells_of_row(std::string_view text) {
  return split(text, '(', ')');
}

std::optional<std::vector<std::string>> elements_of_array(std::string_view text) {
  if (text == "{}") return std::vector<std::string>();
  auto cells = split(text, '{', '}');
  if (!cells) return std::nullopt;
  std::vector<std::string> elements;
  for (auto& cell : *cells) elements.push_back(std::move(cell).value_or(""));
  return elements;
}

}  // namespace assay::internal::record
