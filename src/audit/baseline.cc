#include "audit/baseline.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "explain/explain.h"
#include "history/level_name.h"

namespace assay::internal {
namespace {

// The text of a member; empty if there is none.
std::string text_of(const Json& object, const char* name) {
  const Json* it = object.find(name);
  return it != nullptr && it->is_string() ? it->text() : std::string();
}

}  // namespace

Result<std::vector<KnownViolation>> parse_baseline(std::string_view text, const std::string& name) {
  const auto refuse = [&](std::string_view why) {
    return bad_input(fmt::format("{}: {}", name, why));
  };
  const Json file = Json::parse(text);
  if (!file.is_object() || file.value("assay_baseline", Json()) != 1)
    return refuse(R"(no baseline; expected {"assay_baseline":1,"known":[…]})");
  const Json* known = file.find("known");
  if (known == nullptr || !known->is_array())
    return refuse("\"known\" is missing; expected an array of objects with level and anomaly");
  std::vector<KnownViolation> all;
  for (size_t i = 0; i < known->size(); ++i) {
    const Json& entry = (*known)[i];
    if (!entry.is_object())
      return refuse(fmt::format("known[{}] is not an object with level and anomaly", i));
    const std::string level = text_of(entry, "level"), anomaly = text_of(entry, "anomaly");
    const auto id = find_level(level);
    if (!id) return refuse(fmt::format("known[{}]: {}", i, internal::no_level(level)));
    const auto kind = find_anomaly(anomaly);
    if (!kind) return refuse(fmt::format("known[{}]: unknown anomaly '{}'", i, anomaly));
    all.push_back({*id, *kind});
  }
  return all;
}

std::string baseline_text(std::vector<KnownViolation> known) {
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  std::string out = R"({"assay_baseline":1,"known":[)";
  for (size_t i = 0; i < known.size(); ++i)
    out += fmt::format("{}\n  {{\"level\":\"{}\",\"anomaly\":\"{}\"}}", i == 0 ? "" : ",",
                       level_info(known[i].level).name, anomaly_info(known[i].anomaly).name);
  return out + "\n]}\n";
}

std::vector<KnownViolation> violations_of(const Audit& audit) {
  std::vector<KnownViolation> all;
  for (const Verdict& v : audit.result.verdicts) {
    if (v.outcome != Outcome::violated) continue;
    if (const Explanation* e = find_explanation(audit.explanations, v.level))
      all.push_back({v.level, e->anomaly});
  }
  return all;
}

void mark_known(Audit& audit, std::span<const KnownViolation> baseline) {
  audit.known.emplace();
  for (const KnownViolation& found : violations_of(audit))
    if (std::find(baseline.begin(), baseline.end(), found) != baseline.end())
      audit.known->push_back(found.level);
}

}  // namespace assay::internal
