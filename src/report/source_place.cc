#include "report/source_place.h"

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/json.h"

namespace assay::internal {
namespace {

namespace fs = std::filesystem;

// `told`: "app/bank.py:34"; the line may be missing.
std::optional<SourcePlace> file_of_repository(std::string_view told) {
  SourcePlace place;
  const size_t colon = told.rfind(':');
  if (colon != std::string_view::npos &&
      std::from_chars(told.data() + colon + 1, told.data() + told.size(), place.line).ptr ==
          told.data() + told.size())
    told = told.substr(0, colon);
  if (told.empty() || told.size() > 1000) return std::nullopt;
  const char* const workspace = std::getenv("GITHUB_WORKSPACE");
  std::error_code failed;
  const fs::path root = fs::canonical(workspace != nullptr ? workspace : ".", failed);
  if (failed) return std::nullopt;
  const fs::path file = fs::canonical(fs::path(told), failed);
  if (failed || !fs::is_regular_file(file, failed)) return std::nullopt;
  place.file = file.lexically_relative(root).generic_string();
  if (place.file.empty() || place.file.starts_with("..")) return std::nullopt;
  return place;
}

std::optional<SourcePlace> named(std::string_view meta, std::string_view name) {
  if (meta.empty()) return std::nullopt;
  const auto parsed = Json::parse(meta);
  if (!parsed.is_object() || !parsed.contains(name)) return std::nullopt;
  const Json value = parsed.value(name, Json());
  if (value.is_string()) return file_of_repository(value.text());
  if (!value.is_array()) return std::nullopt;
  for (const Json& statement : value)
    if (auto place = file_of_repository(statement.text("place"))) return place;
  return std::nullopt;
}

}  // namespace

std::optional<SourcePlace> source_place(const Audit& c, const Explanation& e) {
  for (const TxnId t : e.transactions)
    if (auto place = named(c.history.meta(t), "sql")) return place;
  for (const std::string_view name : {"test", "sql", "played"})
    if (auto place = named(c.history.meta(), name)) return place;
  return std::nullopt;
}

}  // namespace assay::internal
