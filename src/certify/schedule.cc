// The names of isolations, in the order of their values, and the locks in a meta.
#include "certify/schedule.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/json.h"

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

std::map<int64_t, RowLock> row_locks_of(std::string_view meta) {
  std::map<int64_t, RowLock> locks;
  if (meta.find("\"locks\"") == std::string_view::npos) return locks;
  const Json told = Json::parse(meta);
  if (!told.is_object()) return locks;
  for (const Json& statement : told["sql"])
    for (const auto& [name, lock] :
         {std::pair("share", RowLock::share), std::pair("update", RowLock::update)})
      if (statement.text("locks") == name) locks[statement["sent"].integer()] = lock;
  return locks;
}

}  // namespace assay::internal::certify
