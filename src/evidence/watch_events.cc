#include "evidence/watch_events.h"

#include <charconv>
#include <utility>

#include "base/json.h"
#include "collect/drivers/base64.h"

namespace assay::internal::evidence {
namespace {

constexpr std::string_view kEtcdTxnKey = "assay-txn";
constexpr std::string_view kEtcdValues = "assay/kv/", kEtcdLists = "assay/list/";

int64_t number(const Json& object, const char* field) {
  const std::string text = object.text(field, "0");
  int64_t n = 0;
  std::from_chars(text.data(), text.data() + text.size(), n);
  return n;
}

}  // namespace

void WatchEvents::finish(const std::function<void(LoggedTxn)>& take) {
  LoggedTxn done = std::exchange(txn_, {});
  if (!done.changes.empty()) take(std::move(done));
}

bool WatchEvents::line(std::string_view text, const std::function<void(LoggedTxn)>& take) {
  const Json answer = Json::parse(text);
  if (!answer.is_object() || !answer.contains("result")) {
    why_ = "etcd: " + std::string(text.substr(0, 200));
    return false;
  }
  const Json& result = answer["result"];
  if (result.value("canceled").is_true()) {
    why_ = "etcd has ended the watch: " + result.text("cancel_reason", "it forgot old revisions");
    return false;
  }
  if (!result.contains("events")) return true;
  for (const Json& event : result["events"]) {
    const Json& kv = event["kv"];
    const int64_t revision = number(kv, "mod_revision");
    if (revision != revision_) finish(take);
    revision_ = revision;
    txn_.position = "revision " + std::to_string(revision);
    const std::string key = collect::from_base64(kv.text("key"));
    const std::string value = collect::from_base64(kv.text("value"));
    const bool deleted = event.text("type", "PUT") == "DELETE";
    if (key == kEtcdTxnKey) txn_.name = value;
    if (key.starts_with(kEtcdValues) && deleted)
      rows_.erase("assay_kv", key.substr(kEtcdValues.size()), txn_.changes);
    else if (key.starts_with(kEtcdValues))
      rows_.put("assay_kv", key.substr(kEtcdValues.size()), {{"v", value}}, txn_.changes);
    else if (key.starts_with(kEtcdLists) && !deleted)
      rows_.put("assay_list", key.substr(kEtcdLists.size()), {{"v", value}}, txn_.changes);
  }
  return true;
}

bool WatchEvents::feed(std::string_view bytes, const std::function<void(LoggedTxn)>& take) {
  rest_ += bytes;
  size_t begin = 0;
  for (size_t end; (end = rest_.find('\n', begin)) != std::string::npos; begin = end + 1)
    if (end > begin && !line(std::string_view(rest_).substr(begin, end - begin), take))
      return false;
  rest_.erase(0, begin);
  return true;
}

}  // namespace assay::internal::evidence
