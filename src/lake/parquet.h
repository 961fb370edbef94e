// The table of facts as a Parquet file. DuckDB or pyarrow writes it, whichever is installed: they
// get the rows as CSV through a pipe.
#pragma once

#include <string>
#include <vector>

#include "assay/format.h"
#include "assay/history.h"
#include "assay/result.h"

namespace assay::internal::lake {

// Writes to `path`, where nothing appears before the file is complete. What the table cannot hold
// is the same as for CSV. Fails if neither DuckDB (the program, or the package of python3) nor
// pyarrow is installed.
Result<std::vector<Loss>> write_parquet(const History& history, const std::string& path);

}  // namespace assay::internal::lake
