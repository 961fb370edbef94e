// For tests: real histories written by other tools, if the machine has them. They are not part of
// this repository; the folder is named by ASSAY_DATA or is next to the source tree as shared/data.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace assay::internal::formats {

// Returns an empty path if there is no such folder; the test is then skipped.
inline std::filesystem::path shared_data() {
  namespace fs = std::filesystem;
  if (const char* named = std::getenv("ASSAY_DATA")) return fs::is_directory(named) ? named : "";
  for (fs::path up = fs::current_path(); up.has_relative_path(); up = up.parent_path())
    if (fs::is_directory(up / "shared" / "data")) return up / "shared" / "data";
  return {};
}

}  // namespace assay::internal::formats
