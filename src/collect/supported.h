// Which workloads a database's driver can run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "assay/result.h"
#include "collect/workload.h"

namespace assay::internal::collect {

// A usage error if the driver lacks an operation of the workload; `own_sql`: the conditions are the
// user's, in SQL.
Status can_run(const Driver& driver, const Workload& workload, std::string_view name,
               bool own_sql = false);

struct SupportedWorkload {
  const WorkloadInfo* info = nullptr;
  uint32_t kinds = 0;            // a bit for each OpKind that it uses
  bool with_tombstones = false;  // it removes keys, and can use WorkloadOptions::tombstones instead
};

// The workloads that the drivers of all endpoints (if empty: of the embedded SQLite) can run and
// that accept the options; if there are none, the refusal of the last one. Opens the drivers and
// prepares nothing.
Result<std::vector<SupportedWorkload>> supported_workloads(
    const std::vector<std::string>& databases, const std::string& isolation,
    const WorkloadOptions& options);

}  // namespace assay::internal::collect
