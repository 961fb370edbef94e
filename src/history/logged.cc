#include "history/logged.h"

namespace assay::internal {

std::string_view logged_name(const Event& event) {
  constexpr std::string_view kStart = R"({"event":"logged","txn":")";
  if (!event.json.starts_with(kStart)) return {};
  const std::string_view rest = std::string_view(event.json).substr(kStart.size());
  return rest.substr(0, rest.find('"'));
}

std::vector<std::string> logged_transactions(const History& h) {
  std::vector<std::string> names;
  for (const Event& event : h.events())
    if (const std::string_view name = logged_name(event); !name.empty()) names.emplace_back(name);
  return names;
}

}  // namespace assay::internal
