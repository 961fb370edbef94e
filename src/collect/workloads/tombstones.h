// Deleting without removing: when a workload deletes a key, its session overwrites the key with a
// tombstone, a value that names this deletion, like an application whose tables have a column for
// "deleted". Then the value of a read always identifies its writer, and the checker need not guess;
// otherwise any deletion may have left an absent key.
//
//   the workload asks for    what is sent
//   delete x                 write(x, deleted-7)
//   insert(x, 9)             read(x) -> null: insert(x, 9)
//                                    -> deleted-7: compare-and-set(x, deleted-7, 9)
//                                    -> 4: nothing, the insert failed
//   read(x) -> deleted-7     the same; the workload is told that x is absent
//
// The history must say that an absent key was never written (HistoryFacts). Source: Viper (Zhang et
// al., 2023), whose range reads depend on it.
#pragma once

#include <memory>

#include "collect/workload.h"

namespace assay::internal::collect {

std::unique_ptr<Workload> with_tombstones(std::unique_ptr<Workload> workload);

}  // namespace assay::internal::collect
