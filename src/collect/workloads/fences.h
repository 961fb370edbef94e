// Fences: now and then a session reads one key that all sessions share, and writes it anew, in a
// separate transaction. If transactions are serialized and sessions keep their order, a fence
// follows its session's earlier transactions and precedes its later ones, and all fences are in the
// order in which they read each other's values: so they show, without any clock, which transactions
// are over.
//
//   s1: w(x,1)  { r(-1,null) w(-1,1) }  r(y)          s2: … { r(-1,1) w(-1,2) }  w(x,3)      w(x,1)
//                                                     is before w(x,3)
//
// Source: the fences of Cobra (Tan et al., 2020).
#pragma once

#include <cstdint>
#include <memory>

#include "collect/workload.h"

namespace assay::internal::collect {

// A key that no workload uses.
constexpr int64_t kFenceKey = -1;

// Makes every `every`th transaction of a session a fence, and its first.
std::unique_ptr<Workload> with_fences(std::unique_ptr<Workload> workload, uint32_t every);

}  // namespace assay::internal::collect
