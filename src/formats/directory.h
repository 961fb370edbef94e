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

// The files of `source` whose names are `prefix`, digits, ".log", sorted by number. Other files are
// ignored.
std::vector<SessionLog> session_logs(const Source& source, std::string_view prefix);
// An error that says that there are none.
Error no_logs(std::string_view prefix);
// A log of these bytes alone.
SessionLog log_of(std::string_view bytes, const std::string& name);

// Creates `path` if needed. It has to be empty, so files of another history are not mixed in.
Status make_empty_directory(const std::string& path);

// "path/T7.log"
std::string session_path(const std::string& path, std::string_view prefix, int64_t number);

}  // namespace assay::internal::formats
