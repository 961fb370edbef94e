#include "collect/workload_priors.h"

#include <algorithm>

#include "collect/workloads/registry.h"

namespace assay::internal::collect {
namespace {

using Rates = std::array<double, kFaultClassCount>;

struct WorkloadPrior {
  const WorkloadInfo* workload;
  Rates a_minute;  // by FaultClass
};

// In the order of kWorkloads.
// clang-format off
constexpr WorkloadPrior kPriors[] = {
    //                    weak reads, lost update, write skew, stale read
    {&kGeneral,          {10,         10,          10,         1}},
    {&kBaseline,         {10,         10,          10,         1}},
    {&kMini,             {10,         10,          10,         1}},
    {&kIncrement,        {10,         10,          10,         1}},
    {&kWriteSkew,        {10,         10,          10,         1}},
    {&kLongFork,         {10,         10,          10,         1}},
    {&kListAppend,       {10,         10,          10,         1}},
    {&kBank,             {10,         10,          10,         1}},
    {&kBlindwRw,         {10,         10,          10,         1}},
    {&kBlindwRm,         {10,         10,          10,         1}},
    {&kLwt,              {10,         10,          10,         1}},
    {&kVRangeB,          {10,         10,          10,         1}},
    {&kVRangeRqh,        {10,         10,          10,         1}},
    {&kVRangeIdh,        {10,         10,          10,         1}},
    {&kPredicateQueries, {10,         10,          10,         1}},
    {&kTpcc,             {10,         10,          10,         1}},
    {&kRubis,            {10,         10,          10,         1}},
    {&kTwitter,          {10,         10,          10,         1}},
};
// clang-format on

constexpr bool is_complete() {
  for (size_t i = 0; i < kWorkloadCount; ++i) {
    if (kPriors[i].workload != kWorkloads[i]) return false;
    for (const double rate : kPriors[i].a_minute)
      if (!(rate > 0)) return false;
  }
  return true;
}
static_assert(std::size(kPriors) == kWorkloadCount, "a row for each workload");
static_assert(is_complete(), "in the order of kWorkloads, all above 0");

// By Contention, as a share of the rate.
constexpr std::array<double, kContentions.size()> kShares = {1, 0.6, 0.3};

}  // namespace

FaultClass fault_class(LevelId level) {
  if (level_info(level).single_operations) return FaultClass::stale_read;
  if (implies(level, LevelId::serializable) || implies(level, LevelId::pl_2_99))
    return FaultClass::write_skew;
  if (implies(level, LevelId::adya_si) || implies(level, LevelId::pl_2_plus))
    return FaultClass::lost_update;
  return FaultClass::weak_reads;
}

FaultClass fault_class(std::span<const LevelId> levels) {
  const auto is_single = [](FaultClass fault) { return fault == FaultClass::stale_read; };
  FaultClass strongest = levels.empty() ? FaultClass::write_skew : fault_class(levels.front());
  for (const LevelId level : levels) {
    const FaultClass fault = fault_class(level);
    if (is_single(strongest) || (!is_single(fault) && fault > strongest)) strongest = fault;
  }
  return strongest;
}

double prior_rate(const WorkloadInfo& workload, Contention contention, FaultClass fault) {
  const auto row = std::find_if(std::begin(kPriors), std::end(kPriors), [&](const auto& prior) {
    return prior.workload->name == workload.name;
  });
  return row->a_minute[static_cast<size_t>(fault)] * kShares[static_cast<size_t>(contention)];
}

}  // namespace assay::internal::collect
