#include "formats/directory.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace assay::internal::formats {

std::vector<SessionFile> session_files(const Source& source, std::string_view prefix) {
  constexpr std::string_view kEnding = ".log";
  std::vector<SessionFile> found;
  for (const std::string& name : source.files) {
    std::string_view digits = name;
    if (!digits.starts_with(prefix) || !digits.ends_with(kEnding)) continue;
    digits.remove_prefix(prefix.size());
    digits.remove_suffix(kEnding.size());
    int64_t number = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc{} || end != digits.data() + digits.size() || digits[0] == '-') continue;
    found.push_back({number, (std::filesystem::path(source.name) / name).string()});
  }
  std::sort(found.begin(), found.end(), [](const SessionFile& a, const SessionFile& b) {
    return a.number != b.number ? a.number < b.number : a.path < b.path;
  });
  return found;
}

Status make_empty_directory(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return io_error("cannot create the directory: " + error.message(), path);
  bool empty = std::filesystem::is_empty(path, error);
  if (error) return io_error("cannot look into the directory: " + error.message(), path);
  if (!empty) return io_error("the directory is not empty", path);
  return Ok{};
}

std::string session_path(const std::string& path, std::string_view prefix, int64_t number) {
  return (std::filesystem::path(path) / (std::string(prefix) + std::to_string(number) + ".log"))
      .string();
}

}  // namespace assay::internal::formats
