#include "watch/session_news.h"

#include <fmt/format.h>

#include <string>

#include "base/json.h"

namespace assay::internal::watch {

Result<std::optional<SessionNews>> session_news(const Event& event) {
  const auto json = Json::parse(event.json);
  if (!json.is_object()) return std::optional<SessionNews>();
  const std::string name = json.text("event");
  if (name != "heartbeat" && name != "end") return std::optional<SessionNews>();
  const Json* session = json.find("session");
  if (session == nullptr || !(session->is_string() || session->is_int64()))
    return bad_input(fmt::format("expected a field \"session\" beside \"event\":\"{}\"", name));
  SessionNews news{HeldValue(session->is_string() ? ValueView::of(session->text())
                                                  : ValueView::of(session->integer()))};
  news.ends = name == "end";
  news.at = event.at;
  if (const Json* start = json.find("start_ts"); start != nullptr && start->is_int64())
    news.start_ts = start->integer();
  if (!news.ends && news.at == Interval::kUnknown && news.start_ts == Interval::kUnknown)
    return bad_input("expected a field \"at\" beside \"event\":\"heartbeat\"");
  return std::optional(std::move(news));
}

}  // namespace assay::internal::watch
