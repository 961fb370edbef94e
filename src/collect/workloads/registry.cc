#include "collect/workloads/registry.h"

#include <utility>
#include <vector>

#include "collect/workloads/fences.h"
#include "collect/workloads/tombstones.h"

namespace assay::internal::collect {

std::span<const WorkloadInfo> all_workloads() {
  static const std::vector<WorkloadInfo> workloads = [] {
    std::vector<WorkloadInfo> all;
    for (const WorkloadInfo* info : kWorkloads) all.push_back(*info);
    return all;
  }();
  return workloads;
}

const WorkloadInfo* find_workload(std::string_view name) {
  for (const WorkloadInfo& info : all_workloads())
    if (info.name == name) return &info;
  return nullptr;
}

Result<std::unique_ptr<Workload>> make_workload(std::string_view name,
                                                const WorkloadOptions& options) {
  if (const WorkloadInfo* info = find_workload(name)) {
    if ((options.long_ops > 0 || options.own_writes) && info->name != kGeneral.name)
      return usage_error("long-ops and own-writes are keys of the workload general, not of " +
                         std::string(name));
    if (options.keys_alive > 0 && info->name != kGeneral.name && info->name != kMini.name)
      return usage_error("keys-alive is a key of the workloads general and mini, not of " +
                         std::string(name));
    if (options.increment_share > 0 && info->name != kGeneral.name &&
        info->name != kPredicateQueries.name)
      return usage_error(
          "increment-share is a key of the workloads general and predicates, not of " +
          std::string(name));
    const bool queries = options.query_share != WorkloadOptions::kQueryShare ||
                         options.query_width != WorkloadOptions::kQueryWidth ||
                         options.update_share > 0;
    if (queries && info->name != kPredicateQueries.name)
      return usage_error(
          "query-share, query-width and update-share are keys of the workload predicates, not of " +
          std::string(name));
    auto workload = info->make(options);
    if (workload.ok() && options.load && (*workload)->first_writes().empty())
      return usage_error("load is a key of workloads over integer keys, not of " +
                         std::string(name));
    if (workload.ok() && options.tombstones) workload = with_tombstones(std::move(*workload));
    if (!workload.ok() || options.fences == 0) return workload;
    if ((*workload)->tables().empty() && !(*workload)->has_rows())
      return with_fences(std::move(*workload), options.fences);
    return usage_error("fences is a key of workloads over single keys, not of " +
                       std::string(name));
  }
  std::string known;
  for (const WorkloadInfo& info : all_workloads())
    known += (known.empty() ? "" : ", ") + std::string(info.name);
  return usage_error("unknown workload '" + std::string(name) + "'; expected one of " + known);
}

}  // namespace assay::internal::collect
