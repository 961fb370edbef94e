// Every workload, declared and listed once.
#pragma once

#include <iterator>

#include "collect/workload.h"

namespace assay::internal::collect {

extern const WorkloadInfo kGeneral;
extern const WorkloadInfo kBaseline;
extern const WorkloadInfo kMini;
extern const WorkloadInfo kIncrement;
extern const WorkloadInfo kWriteSkew;
extern const WorkloadInfo kLongFork;
extern const WorkloadInfo kListAppend;
extern const WorkloadInfo kBank;
extern const WorkloadInfo kBlindwRw;
extern const WorkloadInfo kBlindwRm;
extern const WorkloadInfo kLwt;
extern const WorkloadInfo kPredicateQueries;
extern const WorkloadInfo kVRangeB;
extern const WorkloadInfo kVRangeRqh;
extern const WorkloadInfo kVRangeIdh;
extern const WorkloadInfo kTpcc;
extern const WorkloadInfo kRubis;
extern const WorkloadInfo kTwitter;

inline constexpr const WorkloadInfo* kWorkloads[] = {
    &kGeneral,  &kBaseline,   &kMini,      &kIncrement, &kWriteSkew,
    &kLongFork, &kListAppend, &kBank,      &kBlindwRw,  &kBlindwRm,
    &kLwt,      &kVRangeB,    &kVRangeRqh, &kVRangeIdh, &kPredicateQueries,
    &kTpcc,     &kRubis,      &kTwitter};
inline constexpr size_t kWorkloadCount = std::size(kWorkloads);

}  // namespace assay::internal::collect
