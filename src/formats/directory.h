// Formats that keep one file per session in a directory: PREFIX<number>.log.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/result.h"
#include "formats/registry.h"

namespace assay::internal::formats {

struct SessionFile {
  int64_t number;
  std::string path;
};

// The files of `source` whose names are `prefix`, digits, ".log", by number. Other files are left
// alone.
std::vector<SessionFile> session_files(const Source& source, std::string_view prefix);

// Creates `path` if needed. Files of another history must not be mixed in, so it has to be empty.
Status make_empty_directory(const std::string& path);

// "path/T7.log"
std::string session_path(const std::string& path, std::string_view prefix, int64_t number);

}  // namespace assay::internal::formats
