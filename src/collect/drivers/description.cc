#include "collect/drivers/description.h"

#include <nlohmann/json.hpp>

namespace assay::internal::collect {

std::string describe_database(std::string_view name, std::string_view version,
                              std::string_view isolation, const Settings& settings) {
  using nlohmann::ordered_json;
  ordered_json all = {{"name", name}, {"version", version}, {"isolation", isolation}};
  for (const auto& [setting, value] : settings) all["settings"][setting] = value;
  return all.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace assay::internal::collect
