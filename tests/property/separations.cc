#include "separations.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "exhaustive.h"
#include "oracle/oracle.h"

namespace assay::internal {
namespace {

std::pair<size_t, size_t> size_of(const Draft& draft) {
  size_t ops = 0;
  for (const DraftTxn& txn : draft.txns) ops += txn.ops.size();
  return {ops, draft.txns.size()};
}

// Values are named anew for each key: 1, 2, … in the order of the writes. Sessions are s1, s2, …
std::string pretty(Draft draft) {
  std::map<int64_t, int64_t> names;
  std::map<int, int64_t> written;
  for (const DraftTxn& txn : draft.txns)
    for (const DraftOp& op : txn.ops)
      if (op.kind == OpKind::write) names[*op.value] = ++written[op.key];
  for (DraftTxn& txn : draft.txns)
    for (DraftOp& op : txn.ops)
      if (op.value) op.value = names.at(*op.value);
  for (DraftOrder& order : draft.orders)
    for (int64_t& value : order.values) value = names.at(value);
  std::string text = draft.text();
  for (size_t at = 0; at != std::string::npos && at < text.size();) {
    if (std::isdigit(text[at]) != 0) text.insert(at, "s");
    at = text.find('\n', at);
    if (at != std::string::npos) ++at;
  }
  return text;
}

std::vector<LevelInfo> level_infos() { return {all_levels().begin(), all_levels().end()}; }

// The levels of pairs that should have a history and have none.
std::vector<LevelInfo> levels_of_missing(const Separations& all) {
  std::vector<LevelInfo> missing;
  for (const LevelInfo& level : all_levels()) {
    const auto lacks = [&](const LevelInfo& other) {
      const auto lack = [&](LevelId a, LevelId b) {
        return !implies(a, b) && all.smallest(a, b) == nullptr && inseparable(a, b).empty();
      };
      return lack(level.id, other.id) || lack(other.id, level.id);
    };
    if (std::any_of(all_levels().begin(), all_levels().end(), lacks)) missing.push_back(level);
  }
  return missing;
}

std::string links(const std::vector<LevelId>& levels) {
  std::string text;
  for (const LevelId level : levels) {
    const std::string_view name = level_info(level).name;
    text += fmt::format("{}[`{}`]({}.md)", text.empty() ? "" : ", ", name, name);
  }
  return text;
}

struct Group {
  const Draft* draft = nullptr;
  std::vector<LevelId> violated;
};

// The histories for one level, the smallest first; each with the levels it is for.
std::vector<Group> groups(const Separations& all, LevelId level) {
  std::map<std::string, Group> by_text;
  for (const LevelInfo& other : all_levels()) {
    const Draft* draft = implies(level, other.id) ? nullptr : all.smallest(level, other.id);
    if (draft == nullptr) continue;
    Group& group = by_text[draft->text()];
    group.draft = draft;
    group.violated.push_back(other.id);
  }
  std::vector<Group> result;
  for (auto& [text, group] : by_text) result.push_back(std::move(group));
  std::stable_sort(result.begin(), result.end(), [](const Group& a, const Group& b) {
    return size_of(*a.draft) < size_of(*b.draft);
  });
  return result;
}

std::string wrapped(const std::string& text, size_t width = 110) {
  std::string out;
  size_t column = 0, at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find(' ', at), text.size());
    // "`level` violated" stays on one line
    size_t stop = end;
    if (text[at] == '`') stop = std::min(text.find(' ', end + 1), text.size());
    if (column > 0 && column + 1 + (stop - at) > width) {
      out += '\n';
      column = 0;
    } else if (column > 0) {
      out += ' ';
      ++column;
    }
    out += text.substr(at, stop - at);
    column += stop - at;
    at = stop + 1;
  }
  return out;
}

}  // namespace

void Separations::search(const oracle::Bounds& bounds, const std::vector<LevelInfo>& levels) {
  oracle::enumerate(bounds, [&](const Draft& draft) {
    const auto history = draft.history();
    if (!history.ok()) return true;
    const auto verdicts = oracle::decide_all(*history, levels);
    const auto size = size_of(draft);
    const bool orders_known = states_its_orders(draft);
    const auto left_open = [&](size_t level) {
      return !orders_known && level_info(LevelId(level)).events == EventModel::adya;
    };
    for (size_t a = 0; a < kLevelCount; ++a) {
      if (verdicts[a] != Outcome::satisfied || left_open(a)) continue;
      for (size_t b = 0; b < kLevelCount; ++b) {
        if (verdicts[b] != Outcome::violated || left_open(b)) continue;
        auto& found = found_[a][b];
        if (!found || size < found->size) found = Found{draft, size};
      }
    }
    return true;
  });
}

const Draft* Separations::smallest(LevelId satisfied, LevelId violated) const {
  const auto& found = found_[static_cast<size_t>(satisfied)][static_cast<size_t>(violated)];
  return found ? &found->draft : nullptr;
}

// Plain histories before those that state orders or times: of equal ones the first stays. A search
// of up to four operations finds most pairs; the few that are left are searched with more.
Separations all_separations() {
  Separations all;
  const oracle::Bounds plain{
      .sessions = 4, .txns = 4, .ops = 2, .keys = 2, .total_ops = 4, .total_txns = 4};
  oracle::Bounds ordered = plain, timed = plain, both = plain, ties = plain;
  ordered.ordered = both.ordered = true;
  timed.timed = both.timed = ties.timed = ties.equal_times = true;
  timed.total_txns = both.total_txns = 3;
  ties.total_ops = 2;
  for (const oracle::Bounds& bounds : {plain, ordered, timed, both, ties})
    all.search(bounds, level_infos());
  oracle::Bounds more = plain;
  more.sessions = 3;
  for (more.total_ops = 5; more.total_ops <= 6; ++more.total_ops)
    if (const auto missing = levels_of_missing(all); !missing.empty()) all.search(more, missing);
  return all;
}

std::string inseparable(LevelId satisfied, LevelId violated) {
  if (violated == LevelId::linearizable &&
      (satisfied == LevelId::strong_si || satisfied == LevelId::strict_serializable))
    return "for single operations on one key, which that level is defined for, they are the same";
  if (satisfied == LevelId::pl_3 &&
      (violated == LevelId::adya_si || violated == LevelId::serializable))
    return "they differ only in what is known of the order of versions";
  if (satisfied == LevelId::pl_2_99 &&
      (violated == LevelId::monotonic_atomic_view || violated == LevelId::pl_2_plus ||
       violated == LevelId::pl_3 || violated == LevelId::adya_si ||
       violated == LevelId::serializable))
    return "they differ only for queries with a condition or over a range";
  if (violated == LevelId::monotonic_atomic_view &&
      (satisfied == LevelId::pl_2_plus || satisfied == LevelId::pl_3))
    return "they differ only where the database decides whether a row satisfies a condition";
  return {};
}

std::string separations_section(const Separations& all, LevelId level) {
  const std::string_view name = level_info(level).name;
  std::string text = "## What it does not imply\n\n";
  const std::vector<Group> shown = groups(all, level);
  text += "[The smallest histories that show it](README.md#what-no-line-connects).\n";
  for (const Group& group : shown) {
    std::string verdicts = fmt::format("Verdicts: `{}` satisfied", name);
    if (group.violated.size() == 1) {
      verdicts += fmt::format(", `{}` violated", level_info(group.violated[0]).name);
    } else {
      std::string_view before = "; violated: ";
      for (const LevelId violated : group.violated)
        verdicts += fmt::format("{}`{}`", std::exchange(before, ", "), level_info(violated).name);
    }
    text += fmt::format("\n```hist\n{}```\n{}.\n", pretty(*group.draft), wrapped(verdicts));
  }
  std::map<std::string, std::vector<LevelId>> without;
  for (const LevelInfo& other : all_levels())
    if (!implies(level, other.id) && all.smallest(level, other.id) == nullptr)
      without[inseparable(level, other.id)].push_back(other.id);
  for (const auto& [why, levels] : without)
    text += "\n" +
            wrapped(fmt::format("There is no such history of reads and writes for {}: {}.",
                                links(levels), why)) +
            "\n";
  return text;
}

std::vector<std::pair<std::string, std::string>> separation_files(const Separations& all) {
  std::map<std::string, std::pair<const Draft*, std::string>> by_text;  // and for which pairs
  for (const LevelInfo& a : all_levels()) {
    for (const Group& group : groups(all, a.id)) {
      auto& [draft, pairs] = by_text[group.draft->text()];
      draft = group.draft;
      pairs += fmt::format("# smallest: {} but not", a.name);
      for (const LevelId violated : group.violated)
        pairs += fmt::format(" {}", level_info(violated).name);
      pairs += "\n";
    }
  }
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto& [text, found] : by_text) {
    const auto& [draft, pairs] = found;
    const auto verdicts = oracle::decide_all(*draft->history(), all_levels());
    std::string stated;
    for (const LevelInfo& level : all_levels()) {
      const Outcome outcome = verdicts[static_cast<size_t>(level.id)];
      const bool left_open = level.events == EventModel::adya && !states_its_orders(*draft);
      if (outcome == Outcome::unknown || left_open) continue;
      stated += fmt::format(" {}={}", level.name, outcome == Outcome::satisfied ? "+" : "-");
    }
    files.emplace_back(text, fmt::format("{}# source: exhaustive search\n# verdicts:{}\n{}", pairs,
                                         stated, pretty(*draft)));
  }
  std::stable_sort(files.begin(), files.end(), [&](const auto& a, const auto& b) {
    return size_of(*by_text[a.first].first) < size_of(*by_text[b.first].first);
  });
  for (size_t i = 0; i < files.size(); ++i) files[i].first = fmt::format("{:02}.hist", i + 1);
  return files;
}

}  // namespace assay::internal
