#include "collect/drivers/description.h"

#include "base/json.h"

namespace assay::internal::collect {

std::string describe_database(std::string_view name, std::string_view version,
                              std::string_view isolation, const Settings& settings) {
  Json all = {{"name", name}, {"version", version}, {"isolation", isolation}};
  for (const auto& [setting, value] : settings) all["settings"][setting] = value;
  return all.dump();
}

}  // namespace assay::internal::collect
