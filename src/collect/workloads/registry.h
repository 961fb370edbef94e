// Every workload, declared once here and listed once in registry.cc.
#pragma once

#include "collect/workload.h"

namespace assay::collect {

extern const WorkloadInfo kGeneral;
extern const WorkloadInfo kBaseline;
extern const WorkloadInfo kMini;
extern const WorkloadInfo kIncrement;
extern const WorkloadInfo kWriteSkew;
extern const WorkloadInfo kLongFork;
extern const WorkloadInfo kListAppend;

}  // namespace assay::collect
