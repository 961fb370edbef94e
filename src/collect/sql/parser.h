// Reads a file of tables and transactions. Every error has its line and column and the expected
// input; SQL that could not be recorded faithfully is refused here, with the reason.
#pragma once

#include <string>
#include <string_view>

#include "assay/result.h"
#include "collect/sql/file.h"

namespace assay::internal::collect::sql {

Result<File> parse_file(std::string_view text, std::string path);
Result<File> read_file(const std::string& path);

}  // namespace assay::internal::collect::sql
