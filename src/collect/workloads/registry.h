// Every workload, declared once here and listed once in registry.cc.
#pragma once

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

}  // namespace assay::internal::collect
