#include "explain/faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "explain/names.h"

namespace assay::internal {
namespace {

constexpr size_t kMostFaults = 3;
constexpr std::string_view kDurability =
    "Does the database write a commit to disk before it acknowledges it? If not, a kill loses "
    "commits whatever the isolation.";

bool is_known(int64_t time) { return time != Interval::kUnknown; }

struct Fault {
  std::string what, node;
  int64_t at = 0;     // when it began to be done
  int64_t until = 0;  // when it was healed; kUnknown if it never was
  bool kills() const { return what == "kill" || what == "restart"; }
};

std::string text_of(const nlohmann::json& j) {
  return j.is_string() ? j.get<std::string>() : j.dump();
}

// Faults in the order of their begin, with the moments of their healing.
std::vector<Fault> faults_of(const History& h) {
  std::vector<Fault> faults;
  for (const Event& event : h.events()) {
    if (!is_known(event.at)) continue;
    const auto j = nlohmann::json::parse(event.json, nullptr, false);
    if (!j.is_object() || !j.contains("what")) continue;
    const std::string name = text_of(j["event"]), what = text_of(j["what"]);
    const std::string node = j.contains("node") ? text_of(j["node"]) : "";
    if (name == "fault") faults.push_back({what, node, event.at, Interval::kUnknown});
    if (name != "heal") continue;
    const auto healed = std::find_if(faults.rbegin(), faults.rend(), [&](const Fault& f) {
      return f.what == what && f.node == node && !is_known(f.until);
    });
    if (healed != faults.rend()) healed->until = event.at;
  }
  return faults;
}

std::string seconds(int64_t at) { return fmt::format("{:.3f} s", static_cast<double>(at) / 1e9); }

// "Node 1 was killed at 4.360 s"
std::string done_to(const Fault& f) {
  const std::string node = f.node.empty() ? "The database" : "Node " + display(f.node);
  if (f.kills()) return fmt::format("{} was killed at {}", node, seconds(f.at));
  const std::string end = is_known(f.until)
                              ? fmt::format("from {} to {}", seconds(f.at), seconds(f.until))
                              : fmt::format("from {} on", seconds(f.at));
  if (f.what == "pause") return fmt::format("{} was paused {}", node, end);
  if (f.what == "partition") return fmt::format("{} was cut off {}", node, end);
  if (f.what == "delay") return fmt::format("{} was slowed down {}", node, end);
  return fmt::format("{}: {} {}", node, display(f.what), end);
}

// The commit that was acknowledged before the kill, and who did not find it afterwards.
std::optional<Arrow> lost_by(const Fault& f, const History& h, const Explanation& e) {
  if (!f.kills()) return std::nullopt;
  for (const Arrow& a : e.arrows) {
    if (a.refuted || a.kind != EdgeKind::anti_dependency || h.status(a.to) != TxnStatus::committed)
      continue;
    const int64_t acknowledged = h.end_time(a.to).response;
    const int64_t began = h.begin_time(a.from).request;
    if (is_known(acknowledged) && is_known(began) && acknowledged <= f.at && began >= f.at)
      return a;
  }
  return std::nullopt;
}

// From the first begin to the last end of the transactions; unknown if there are no times.
Interval span_of(const History& h, const Explanation& e) {
  Interval span;
  for (const TxnId t : e.transactions) {
    const int64_t begin = h.begin_time(t).request;
    const int64_t end = h.end_time(t).response;
    if (is_known(begin) && (!is_known(span.request) || begin < span.request)) span.request = begin;
    if (is_known(end) && (!is_known(span.response) || end > span.response)) span.response = end;
  }
  return span;
}

}  // namespace

void tell_unfinished_run(const History& h, Explanation& e) {
  const auto meta = nlohmann::json::parse(h.meta(), nullptr, false);
  if (!meta.is_object() || !meta.contains("other_run") || !meta["other_run"].is_object()) return;
  const auto& other = meta["other_run"];
  const auto field = [&](const char* name) {
    return other.contains(name) ? display(text_of(other[name])) : std::string();
  };
  e.hint = fmt::format(
      "Was run {}{} still going on? It had prepared the same database and was found unfinished; "
      "its "
      "writes look like faults of the database. {}",
      field("run"), other.contains("began") ? ", begun " + field("began") + "," : "", e.hint);
  if (e.hint.ends_with(' ')) e.hint.pop_back();
}

void tell_faults(const History& h, Explanation& e) {
  const Interval span = span_of(h, e);
  if (h.events().empty() || !is_known(span.request) || !is_known(span.response)) return;
  size_t others = 0;
  for (const Fault& f : faults_of(h)) {
    const bool over_before = is_known(f.until) && f.until < span.request && !f.kills();
    if (f.at > span.response || over_before || (f.kills() && f.at < span.request)) continue;
    if (const auto lost = lost_by(f, h, e)) {
      const std::string writer = display_txn(h, lost->to), reader = display_txn(h, lost->from);
      e.sentences.push_back(
          fmt::format("{}, between the two: the commit of {} had been acknowledged, and {} did not "
                      "find it.",
                      done_to(f), writer, reader));
      e.hint = kDurability;
    } else if (others++ < kMostFaults) {
      e.sentences.push_back(done_to(f) + ", while these transactions ran.");
    }
  }
  if (others > kMostFaults)
    e.sentences.push_back(fmt::format("{} more faults came between the first and the last of them.",
                                      others - kMostFaults));
}

}  // namespace assay::internal
