#include "collect/supported.h"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "collect/driver.h"
#include "collect/url.h"
#include "collect/workloads/registry.h"

namespace assay::internal::collect {
namespace {

using Drivers = std::vector<std::unique_ptr<Driver>>;

Result<Drivers> open_all(const std::vector<std::string>& databases, const std::string& isolation) {
  std::vector<std::string> urls = databases;
  if (urls.empty()) urls.push_back("sqlite:");
  Drivers drivers;
  for (const std::string& url : urls) {
    auto driver = open_driver({.url = url, .isolation = isolation});
    if (!driver.ok()) {
      driver.error().message = redacted(driver.error().message);
      return driver.error();
    }
    drivers.push_back(std::move(*driver));
  }
  return drivers;
}

// The workload, if it accepts the options and every driver can run it.
Result<std::unique_ptr<Workload>> runnable(const Drivers& drivers, std::string_view name,
                                           const WorkloadOptions& options) {
  auto workload = make_workload(name, options);
  if (!workload.ok()) return workload;
  for (const auto& driver : drivers)
    if (Status s = can_run(*driver, **workload, name); !s.ok()) return s.error();
  return workload;
}

uint32_t bits_of(std::span<const OpKind> kinds) {
  uint32_t bits = 0;
  for (const OpKind kind : kinds) bits |= 1U << static_cast<uint32_t>(kind);
  return bits;
}

}  // namespace

Status can_run(const Driver& driver, const Workload& workload, std::string_view name,
               bool own_sql) {
  for (const OpKind kind : workload.kinds())
    if (!driver.supports(kind))
      return usage_error(fmt::format(
          "the workload '{}' needs operations that this database's driver lacks", name));
  if (!own_sql && workload.selects() && !driver.supports_conditions())
    return usage_error(fmt::format(
        "the workload '{}' queries rows by value, which this database's driver cannot do", name));
  return Ok{};
}

Result<std::vector<SupportedWorkload>> supported_workloads(
    const std::vector<std::string>& databases, const std::string& isolation,
    const WorkloadOptions& options) {
  const Result<Drivers> drivers = open_all(databases, isolation);
  if (!drivers.ok()) return drivers.error();
  std::vector<SupportedWorkload> supported;
  std::optional<Error> refusal;  // the last one
  WorkloadOptions tombstones = options;
  tombstones.tombstones = true;
  for (const WorkloadInfo* info : kWorkloads) {
    const auto workload = runnable(*drivers, info->name, options);
    if (!workload.ok()) {
      refusal = workload.error();
      continue;
    }
    supported.push_back(
        {info, bits_of((*workload)->kinds()),
         (*workload)->uses(OpKind::remove) && runnable(*drivers, info->name, tombstones).ok()});
  }
  if (supported.empty()) return *refusal;
  return supported;
}

}  // namespace assay::internal::collect
