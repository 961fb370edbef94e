// Formats that keep one file per session in a directory: PREFIX<number>.log.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/result.h"
#include "formats/registry.h"

namespace assay::internal::formats {

struct SessionLog {
  int64_t session;
  std::function<Result<Input>()> open;
};

// The files of `source` whose names are `prefix`, digits, ".log", by number. Other files are left
// alone.
std::vector<SessionLog> session_logs(const Source& source, std::string_view prefix);
// That there are none.
Error no_logs(std::string_view prefix);
// Of these bytes alone.
SessionLog log_of(std::string_view bytes, const std::string& name);

// Creates `path` if needed. Files of another history must not be mixed in, so it has to be empty.
Status make_empty_directory(const std::string& path);

// "path/T7.log"
std::string session_path(const std::string& path, std::string_view prefix, int64_t number);

}  // namespace assay::internal::formats
