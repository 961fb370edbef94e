#include "collect/workload_priors.h"

#include <algorithm>

#include "collect/workloads/registry.h"

namespace assay::internal::collect {
namespace {

using Rates = std::array<double, kFaultClassCount>;

struct WorkloadPrior {
  const WorkloadInfo* workload;
  Rates a_minute;  // indexed by FaultClass
};

// In the order of kWorkloads. Measured by `bench/suite/time-to-violation workloads` and fitted by
// its `fit`: each workload alone on the simulated database, Redis, PostgreSQL, MariaDB and H2,
// where these break a level. clang-format off
constexpr WorkloadPrior kPriors[] = {
    //                    weak reads, lost update, write skew, stale read
    {&kGeneral, {117, 124, 73, 200}},
    {&kBaseline, {74, 104, 37, 800}},
    {&kMini, {38, 178, 79, 15}},
    {&kIncrement, {12, 168, 36, 15}},
    {&kWriteSkew, {63, 167, 104, 15}},
    {&kLongFork, {13, 50, 30, 15}},
    {&kListAppend, {75, 132, 78, 171}},
    {&kBank, {95, 163, 42, 15}},
    {&kBlindwRw, {80, 43, 25, 600}},
    {&kBlindwRm, {92, 55, 29, 480}},
    {&kLwt, {12, 59, 27, 150}},
    {&kVRangeB, {31, 63, 46, 15}},
    {&kVRangeRqh, {72, 48, 71, 15}},
    {&kVRangeIdh, {28, 91, 50, 15}},
    {&kPredicateQueries, {37, 194, 75, 15}},
    {&kTpcc, {76, 127, 23, 15}},
    {&kRubis, {84, 212, 65, 15}},
    {&kTwitter, {105, 200, 43, 15}},
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

// Indexed by Contention, as a share of the rate. Set by hand: fewer keys, more conflicts.
constexpr std::array<double, kContentions.size()> kShares = {1, 0.6, 0.3};

}  // namespace

FaultClass fault_class(LevelId level) {
  const LevelInfo& row = level_info(level);
  if (row.single_operations) return FaultClass::stale_read;
  // If levels are mixed, the strongest is the one most likely to be broken.
  if (row.events == EventModel::mixed || implies(level, LevelId::serializable) ||
      implies(level, LevelId::pl_2_99))
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
