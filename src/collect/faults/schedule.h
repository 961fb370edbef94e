// Faults of a run: which, when and where, drawn from the seed. A fault begins, lasts, and is healed
// before the next one begins; the first part of a run has no faults, so there is traffic to
// disturb.
//
//   kill, restart   the process of a node is killed, and started after the fault's time (restart:
//                   at once)
//   pause           it stops (SIGSTOP) for that time
//   partition       the clients' connections to a node fall silent for that time: nothing goes
//                   through and nothing is refused
//   delay           what goes through takes longer
//
// The first three need a command that acts on nodes, the others go through a proxy of ours.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/rng.h"

namespace assay::internal::collect {

enum class FaultKind : uint8_t { kill, pause, restart, partition, delay };

std::string_view fault_name(FaultKind kind);
std::optional<FaultKind> find_fault(std::string_view name);
std::span<const FaultKind> all_faults();
// Whether the fault affects the processes of a node, not the connections.
bool needs_node(FaultKind kind);

struct Fault {
  FaultKind kind = FaultKind::kill;
  uint32_t node = 0;  // from 0
  double begin = 0;   // seconds since the start of the run
  double end = 0;     // when it is healed
};

class FaultSchedule {
 public:
  // `interval`: mean seconds from the start to the first fault and from each end to the next begin.
  FaultSchedule(std::vector<FaultKind> kinds, uint32_t nodes, double interval, uint64_t seed);
  // The next fault; each begins later than the previous one.
  Fault next();

 private:
  std::vector<FaultKind> kinds_;
  uint32_t nodes_;
  double interval_;
  Rng rng_;
  double free_from_ = 0;
};

}  // namespace assay::internal::collect
