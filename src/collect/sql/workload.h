// A file of tables and transactions as a workload: each session draws transactions by their weights
// and goes through their steps.
#pragma once

#include <memory>
#include <string>

#include "assay/result.h"
#include "collect/workload.h"

namespace assay::internal::collect::sql {

// Makes a workload of the file.
Result<std::unique_ptr<Workload>> make_workload(const std::string& path);

}  // namespace assay::internal::collect::sql
