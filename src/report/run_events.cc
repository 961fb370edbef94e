#include "report/run_events.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/json.h"

namespace assay::internal {

bool is_drawn(const Event& event) {
  constexpr std::array<std::string_view, 5> kOfTheRecorder = {"connect", "log", "complete",
                                                              "incomplete", "logged"};
  if (!Interval::is_moment(event.at)) return false;
  const auto said = Json::parse(event.json);
  if (!said.is_object()) return true;
  const Json* name = said.find("event");
  return name == nullptr ||
         std::find(kOfTheRecorder.begin(), kOfTheRecorder.end(), *name) == kOfTheRecorder.end();
}

}  // namespace assay::internal
