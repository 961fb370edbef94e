// What the workloads over keys 0 … n-1 share.
#pragma once

#include <vector>

#include "assay/result.h"
#include "collect/workload.h"

namespace assay::collect {

// Reads of all keys, or of `limit` different ones where there are more.
std::vector<Request> read_integer_keys(uint64_t keys, uint64_t limit, Rng& rng);

// The options that every such workload has in common.
Status check_key_options(const WorkloadOptions& options);

}  // namespace assay::collect
