#include "collect/faults/schedule.h"

#include <utility>

namespace assay::internal::collect {
namespace {

struct Named {
  FaultKind kind;
  std::string_view name;
};
constexpr Named kNames[] = {
    {FaultKind::kill, "kill"},       {FaultKind::pause, "pause"},
    {FaultKind::restart, "restart"}, {FaultKind::partition, "partition"},
    {FaultKind::delay, "delay"},
};
constexpr FaultKind kAll[] = {FaultKind::kill, FaultKind::pause, FaultKind::restart,
                              FaultKind::partition, FaultKind::delay};

}  // namespace

std::string_view fault_name(FaultKind kind) {
  for (const Named& n : kNames)
    if (n.kind == kind) return n.name;
  return "";
}

std::optional<FaultKind> find_fault(std::string_view name) {
  for (const Named& n : kNames)
    if (n.name == name) return n.kind;
  return std::nullopt;
}

std::span<const FaultKind> all_faults() { return kAll; }

bool needs_node(FaultKind kind) {
  return kind == FaultKind::kill || kind == FaultKind::pause || kind == FaultKind::restart;
}

FaultSchedule::FaultSchedule(std::vector<FaultKind> kinds, uint32_t nodes, double interval,
                             uint64_t seed)
    : kinds_(std::move(kinds)), nodes_(nodes), interval_(interval), rng_(Rng(seed).split(0xFA17)) {}

Fault FaultSchedule::next() {
  Fault fault;
  fault.kind = kinds_[rng_.below(kinds_.size())];
  fault.node = static_cast<uint32_t>(rng_.below(nodes_));
  // Between half and one and a half of the mean.
  fault.begin = free_from_ + interval_ * (0.5 + rng_.unit());
  const double lasts = interval_ * (0.25 + 0.5 * rng_.unit());
  fault.end = fault.kind == FaultKind::restart ? fault.begin : fault.begin + lasts;
  free_from_ = fault.end;
  return fault;
}

}  // namespace assay::internal::collect
