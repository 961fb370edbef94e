#include "formats/directory.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace assay::internal::formats {

std::vector<SessionLog> session_logs(const Source& source, std::string_view prefix) {
  constexpr std::string_view kEnding = ".log";
  std::vector<std::pair<int64_t, std::string>> found;  // numbers and paths
  for (const std::string& name : source.files) {
    std::string_view digits = name;
    if (!digits.starts_with(prefix) || !digits.ends_with(kEnding)) continue;
    digits.remove_prefix(prefix.size());
    digits.remove_suffix(kEnding.size());
    int64_t number = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc{} || end != digits.data() + digits.size() || digits[0] == '-') continue;
    found.emplace_back(number, (std::filesystem::path(source.name) / name).string());
  }
  std::sort(found.begin(), found.end());
  std::vector<SessionLog> logs;
  for (const auto& [number, path] : found)
    logs.push_back(
        {number, [path = path, budget = source.budget] { return Input::open(path, budget); }});
  return logs;
}

Error no_logs(std::string_view prefix) {
  return bad_input("no log in the directory, expected files " + std::string(prefix) +
                   "<number>.log");
}

SessionLog log_of(std::string_view bytes, const std::string& name) {
  return {0, [=] { return Input::memory(bytes, name, nullptr); }};
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
