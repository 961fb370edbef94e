#include "report/run_events.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

namespace assay::internal {

bool is_drawn(const Event& event) {
  constexpr std::array<std::string_view, 5> kOfTheRecorder = {"connect", "log", "complete",
                                                              "incomplete", "logged"};
  if (!Interval::is_moment(event.at)) return false;
  const auto said = nlohmann::json::parse(event.json, nullptr, false);
  if (!said.is_object()) return true;
  const auto name = said.find("event");
  return name == said.end() ||
         std::find(kOfTheRecorder.begin(), kOfTheRecorder.end(), *name) == kOfTheRecorder.end();
}

}  // namespace assay::internal
