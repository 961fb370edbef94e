// What the workloads over keys 0 … n-1 share.
#pragma once

#include <vector>

#include "assay/result.h"
#include "collect/workload.h"

namespace assay::internal::collect {

// Reads of all keys, or of `limit` different ones where there are more.
std::vector<Request> read_integer_keys(uint64_t keys, uint64_t limit, Rng& rng);

// What sessions that only read and write such keys say of themselves (session_workload.h).
struct IntegerRegisters {
  static constexpr OpKind kKinds[] = {OpKind::read, OpKind::write};
  static std::vector<Request> final_reads(const WorkloadOptions& options, uint64_t limit,
                                          Rng& rng) {
    return read_integer_keys(options.keys, limit, rng);
  }
  // Values below zero: no session writes these.
  static std::vector<Request> first_writes(const WorkloadOptions& options) {
    std::vector<Request> writes;
    for (uint64_t key = 0; options.load && key < options.keys; ++key)
      writes.push_back({.kind = OpKind::write,
                        .key = Value::of(static_cast<int64_t>(key)),
                        .value = Value::of(-1 - static_cast<int64_t>(key))});
    return writes;
  }
};

// The options that every such workload has in common.
Status check_key_options(const WorkloadOptions& options);
// Those of a workload whose transactions have `ops` operations, at most `most`.
Status check_key_and_operation_options(const WorkloadOptions& options, uint32_t most = 100'000);

}  // namespace assay::internal::collect
