#include "history/level_words.h"

#include <algorithm>

namespace assay::internal {
namespace {

template <class Items, class Show>
std::string quoted_list(const Items& items, Show show) {
  std::string out;
  for (const auto& item : items)
    if (const std::string_view one = show(item); !one.empty())
      out += (out.empty() ? "\"" : ", \"") + std::string(one) + "\"";
  return "[" + out + "]";
}

}  // namespace

std::string_view cycle_word(const ForbiddenCycle& cycle) {
  for (const auto& [word, known] : kCycleWords)
    if (known.any == cycle.any && known.once == cycle.once && known.one_key == cycle.one_key)
      return word;
  return {};
}

std::string level_definition(const LevelInfo& row) {
  std::string out = "name = \"" + std::string(row.name) + "\"\n";
  const auto text = [&](const char* key, std::string_view value) {
    out += std::string(key) + " = \"" + std::string(value) + "\"\n";
  };
  const auto flag = [&](const char* key, bool value) {
    if (value) out += std::string(key) + " = true\n";
  };
  for (const auto& [name, model] : kModelWords)
    if (model == row.events) text("events", name);
  flag("session-order", row.session_order);
  flag("write-conflict", row.write_conflict);
  for (const auto& [name, time] : kTimeWords)
    if (time == row.real_time) text("real-time", name);
  if (row.seen.any())
    out +=
        "seen = " + quoted_list(row.seen.words, [](std::string_view word) { return word; }) + "\n";
  flag("repeated", row.seen.repeated);
  flag("earlier-reads", row.seen.earlier_reads);
  flag("repeatable", row.repeatable && row.events == EventModel::weak);
  if (row.events == EventModel::adya)
    out += "forbidden = " + quoted_list(row.forbidden, cycle_word) + "\n";
  return out;
}

}  // namespace assay::internal
