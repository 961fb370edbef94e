// How soon each workload shows which class of fault: the prior of a hunt.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "assay/level.h"
#include "collect/workload.h"

namespace assay::internal::collect {

// What a violation of a level is most likely to be, given what the level forbids and the ones below
// it allow.
//   weak_reads   levels below snapshot isolation: fractured, repeated, causally wrong reads
//   lost_update  snapshot isolation
//   write_skew   serializability, with or without the order of time
//   stale_read   linearizability, of single operations
enum class FaultClass : uint8_t { weak_reads, lost_update, write_skew, stale_read };
inline constexpr size_t kFaultClassCount = 4;

FaultClass fault_class(LevelId level);
// The class of the strongest level, since what violates any of them is looked for; stale_read if
// all are of single operations.
FaultClass fault_class(std::span<const LevelId> levels);

// How few keys are shared by how many sessions.
enum class Contention : uint8_t { hot, warm, cool };
inline constexpr std::array<Contention, 3> kContentions = {Contention::hot, Contention::warm,
                                                           Contention::cool};

// Expected violations per minute of driving a database that has a fault of the class; greater than
// 0.
double prior_rate(const WorkloadInfo& workload, Contention contention, FaultClass fault);

}  // namespace assay::internal::collect
