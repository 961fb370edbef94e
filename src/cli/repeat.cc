#include "cli/repeat.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>

#include "base/json.h"
#include "cli/keys.h"
#include "collect/url.h"

namespace assay::internal::cli {
namespace {

// Flags that the hunt itself needs, and flags for its results.
constexpr std::array<std::string_view, 11> kNotRepeated = {"--until-violation",
                                                           "--time",
                                                           "--history",
                                                           "--force",
                                                           "--report",
                                                           "--certificate",
                                                           "--json",
                                                           "--stats",
                                                           "--help",
                                                           "--write-baseline",
                                                           "--color"};

std::string quoted_if_needed(const std::string& text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.,:/%+=";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

std::string repeating_command(const CLI::App& app, const DrawnFlags& drawn) {
  GivenFlags given;
  const auto is_drawn = [&](const std::string& name) {
    return std::any_of(drawn.begin(), drawn.end(), [&](const auto& d) { return d.first == name; });
  };
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    const bool left_out =
        std::find(kNotRepeated.begin(), kNotRepeated.end(), name) != kNotRepeated.end();
    if (option->count() == 0 || left_out || is_drawn(name)) continue;
    const bool takes_value = option->get_expected_max() > 0;
    for (const std::string& value : option->results())
      given.emplace_back(name, takes_value ? collect::redacted(value) : "");
  }
  given.insert(given.end(), drawn.begin(), drawn.end());
  std::string line = "assay " + app.get_name();
  for (const auto& [name, value] : put_together(app, given))
    line += ' ' + name + (value.empty() ? "" : ' ' + quoted_if_needed(value));
  return line;
}

std::string command_of_run(const std::string& meta) {
  const auto said = Json::parse(meta);
  if (!said.is_object() || said.value("tool", Json()) != "assay run") return "";
  std::string line = "assay run";
  const auto add = [&line](const std::string& flag, const Json& value) {
    line += " " + flag + " " + quoted_if_needed(value.is_string() ? value.text() : value.dump());
  };
  const auto add_all = [&](const std::string& flag, const Json& values) {
    if (values.is_array())
      for (const auto& value : values) add(flag, value);
  };
  constexpr std::pair<const char*, const char*> kFlags[] = {
      {"isolation", "--isolation"},
      {"sql", "--sql"},
      {"sessions", "--sessions"},
      {"txns", "--txns"},
      {"seed", "--seed"},
      {"statement_timeout", "--statement-timeout"},
      {"final_read_keys", "--final-read-keys"}};
  constexpr std::pair<const char*, const char*> kKeys[] = {{"ops", "ops"},
                                                           {"long_ops", "long-ops"},
                                                           {"long_share", "long-share"},
                                                           {"read_share", "read-share"},
                                                           {"query_share", "query-share"},
                                                           {"query_width", "query-width"},
                                                           {"update_share", "update-share"},
                                                           {"increment_share", "increment-share"},
                                                           {"keys", "keys"},
                                                           {"keys_alive", "keys-alive"},
                                                           {"values", "values"},
                                                           {"fences", "fences"},
                                                           {"distribution", "distribution"},
                                                           {"tombstones", "tombstones"},
                                                           {"own_writes", "own-writes"},
                                                           {"load", "load"}};
  const Json nothing = Json(), faults = said.value("faults", nothing);
  add_all("--database", said.value("urls", nothing));
  if (said.contains("workload")) {
    std::string workload = said["workload"].text(), separator = ":";
    for (const auto& [field, key] : kKeys) {
      const Json value = said.value(field, nothing);
      if (value.is_null() || value == false) continue;
      const std::string text = value.is_string() ? value.text() : value.dump();
      workload += separator + key + (value == true ? "" : "=" + text);
      separator = ",";
    }
    line += " --workload " + quoted_if_needed(workload);
  }
  for (const auto& [field, flag] : kFlags)
    if (said.contains(field)) add(flag, said[field]);
  if (const auto seconds = said.value("seconds", nothing); seconds != 0 && !seconds.is_null())
    add("--duration", seconds);
  if (!faults.is_object()) return line;
  std::string kinds;
  for (const auto& kind : faults.value("kinds", nothing))
    kinds += (kinds.empty() ? "" : ",") + kind.text();
  if (faults.contains("interval")) kinds += ":interval=" + faults["interval"].dump();
  if (!kinds.empty()) line += " --fault " + quoted_if_needed(kinds);
  if (faults.contains("node_command")) add("--node-command", faults["node_command"]);
  return line;
}

}  // namespace assay::internal::cli
