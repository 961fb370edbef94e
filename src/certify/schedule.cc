// The names of isolations, in the order of their values.
#include "certify/schedule.h"

#include <algorithm>
#include <array>

namespace assay::internal::certify {
namespace {

constexpr std::array<std::string_view, kIsolationCount> kIsolations = {
    "read-committed", "innodb-repeatable-read", "prefix", "snapshot-isolation", "ssi"};

}  // namespace

std::string_view isolation_name(Isolation isolation) {
  return kIsolations[static_cast<size_t>(isolation)];
}

std::optional<Isolation> find_isolation(std::string_view name) {
  const auto found = std::ranges::find(kIsolations, name);
  if (found == kIsolations.end()) return std::nullopt;
  return static_cast<Isolation>(found - kIsolations.begin());
}

}  // namespace assay::internal::certify
