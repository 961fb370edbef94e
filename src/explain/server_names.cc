#include "explain/server_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "explain/names.h"
#include "history/logged.h"

namespace assay::internal {
namespace {

constexpr size_t kMostNames = 6;

std::string field(const Json& j, const char* name) {
  return j.contains(name) && j[name].is_string() ? display(j[name].text(), 120) : "";
}

// "is transaction 739", "logged at 0/15": what the log says of a transaction.
std::vector<std::string> logged_as(const Event& event) {
  const auto j = Json::parse(event.json);
  std::vector<std::string> facts;
  if (!j.is_object()) return facts;
  const std::string xid = field(j, "xid"), position = field(j, "position");
  if (!xid.empty()) facts.push_back("is transaction " + xid);
  if (!position.empty()) facts.push_back((xid.empty() ? "is logged at " : "logged at ") + position);
  return facts;
}

// What the database says of it besides.
void add_own_words(const History& h, TxnId t, std::vector<std::string>& facts) {
  if (const int64_t start = h.start_ts(t); start != Interval::kUnknown)
    facts.push_back(fmt::format("started at {}", start));
  if (const int64_t commit = h.commit_ts(t); commit != Interval::kUnknown)
    facts.push_back(fmt::format("committed at {}", commit));
  if (!h.snapshot(t).empty())
    facts.push_back("saw snapshot " + display(std::string(h.snapshot(t))));
}

}  // namespace

void tell_own_names(const History& h, Explanation& e) {
  std::vector<std::pair<std::string, std::vector<std::string>>> told;  // what was run, by whom
  size_t named = 0;
  for (const TxnId t : e.transactions) {
    if (h.meta(t).empty() || named == kMostNames) continue;
    const auto meta = Json::parse(h.meta(t));
    const std::string ran = meta.is_object() ? field(meta, "ran") : "";
    if (ran.empty()) continue;
    ++named;
    const auto same = [&](const auto& one) { return one.first == ran; };
    auto of = std::find_if(told.begin(), told.end(), same);
    if (of == told.end()) of = told.insert(of, {ran, {}});
    of->second.push_back(display_txn(h, t));
  }
  std::string all;
  for (const auto& [ran, names] : told)
    all += fmt::format("{}{} ran {}", all.empty() ? "" : "; ", fmt::join(names, ", "), ran);
  if (!all.empty()) e.sentences.push_back(all + ".");
}

void tell_server_names(const History& h, Explanation& e) {
  std::map<std::string, TxnId, std::less<>> wanted;
  for (const TxnId t : e.transactions)
    if (wanted.size() < kMostNames) wanted.emplace(h.name(t), t);
  std::map<TxnId, std::vector<std::string>> told;
  for (const Event& event : h.events())
    if (const auto found = wanted.find(logged_name(event)); found != wanted.end())
      told[found->second] = logged_as(event);
  for (const auto& [name, t] : wanted) add_own_words(h, t, told[t]);
  std::string all;
  for (const auto& [t, facts] : told)
    if (!facts.empty())
      all += fmt::format("{}{} {}", all.empty() ? "" : "; ", display_txn(h, t),
                         fmt::join(facts, ", "));
  if (!all.empty()) e.sentences.push_back("On the server " + all + ".");
}

}  // namespace assay::internal
