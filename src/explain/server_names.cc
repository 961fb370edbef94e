#include "explain/server_names.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "explain/names.h"
#include "history/logged.h"

namespace assay::internal {
namespace {

constexpr size_t kMostTold = 6;

std::string field(const nlohmann::json& j, const char* name) {
  return j.contains(name) && j[name].is_string() ? display(j[name].get<std::string>()) : "";
}

}  // namespace

void tell_server_names(const History& h, Explanation& e) {
  std::map<std::string, TxnId, std::less<>> wanted;
  for (const TxnId t : e.transactions)
    if (wanted.size() < kMostTold) wanted.emplace(h.name(t), t);
  std::map<TxnId, std::string> told;
  for (const Event& event : h.events()) {
    const auto found = wanted.find(logged_name(event));
    if (found == wanted.end()) continue;
    const auto j = nlohmann::json::parse(event.json, nullptr, false);
    if (!j.is_object()) continue;
    const std::string xid = field(j, "xid"), position = field(j, "position");
    told[found->second] = fmt::format("{} is {}{}{}", display_txn(h, found->second),
                                      xid.empty() ? "" : "transaction " + xid + ", ",
                                      position.empty() ? "" : "logged at ", position);
  }
  if (told.empty()) return;
  std::string all;
  for (const auto& [t, text] : told) all += (all.empty() ? "" : "; ") + text;
  e.sentences.push_back("On the server " + all + ".");
}

}  // namespace assay::internal
