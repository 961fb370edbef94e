// The table of facts as a Parquet file, read and written by DuckDB's library, which is loaded for
// it. See parquet.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "assay/format.h"
#include "assay/history.h"
#include "assay/result.h"

namespace assay::internal::formats {

// Whether a file begins like one of Parquet.
inline bool is_parquet(std::string_view head) { return head.starts_with("PAR1"); }

// Rows may come in any order; errors name the number of a row, from 1, in place of a line.
Result<History> read_parquet(const std::string& path, Budget* budget, unsigned threads);

// Writes to `path`, where nothing appears before the file is complete. What the table cannot hold
// is the same as for CSV.
Result<std::vector<Loss>> write_parquet(const History& history, const std::string& path);

}  // namespace assay::internal::formats
