#include "history/settled.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/json.h"

namespace assay::internal {
namespace {

// Whether the text has to be parsed. Letters may be written with escapes.
bool may_be_settled(std::string_view json) {
  return json.find("settled") != json.npos || json.find("\\u") != json.npos;
}

Error contradiction(const std::string& effect, uint64_t line) {
  return bad_input(
      effect + ", and an event \"settled\" says that it did not commit; expected one of the two",
      line);
}

// What the stated orders say about transactions that did not commit.
class OrderCheck {
 public:
  OrderCheck(const History& h, std::span<const TxnId> aborted) : h_(h), aborted_(aborted) {
    for (const TxnId t : aborted)
      for (OpId i = h.first_op(t); i < h.end_op(t); ++i)
        if (const Operation op = h.op(i); installs_version(op)) writer_.try_emplace(op.version, t);
  }

  Status run(std::span<const uint32_t> lines) {
    const auto orders = h_.known_orders();
    for (size_t i = 0; i < orders.size(); ++i) {
      const uint64_t line = i < lines.size() ? lines[i] : 0;
      for (size_t e = 0; e < orders[i].versions.size(); ++e) {
        const TxnId named = orders[i].txn(e);
        if (named != kNone && std::ranges::binary_search(aborted_, named))
          return refuse(named, line);
        const VersionId v = orders[i].versions[e];
        if (named != kNone || (e == 0 && h_.is_initial(v))) continue;
        if (const auto it = writer_.find(v); it != writer_.end() && !others_write(v))
          return refuse(it->second, line);
      }
    }
    return Ok{};
  }

 private:
  Status refuse(TxnId t, uint64_t line) const {
    return contradiction("the order says that transaction " + h_.name(t) + " took effect", line);
  }

  // Whether an entry that is only a value may mean another transaction.
  bool others_write(VersionId v) {
    if (!counted_) count();
    return others_.contains(v) ||
           (h_.version_value(v).is_null() && removed_.contains(h_.version_key(v)));
  }

  void count() {
    counted_ = true;
    for (TxnId t = 0; t < h_.txn_count(); ++t) {
      if (h_.status(t) == TxnStatus::aborted || std::ranges::binary_search(aborted_, t)) continue;
      for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
        const Operation op = h_.op(i);
        if (installs_version(op) && writer_.contains(op.version)) others_.insert(op.version);
        if (op.kind == OpKind::remove) removed_.insert(op.key);
      }
    }
  }

  const History& h_;
  std::span<const TxnId> aborted_;
  std::unordered_map<VersionId, TxnId> writer_;  // the writer of each version that such a
                                                 // transaction installed
  bool counted_ = false;
  std::unordered_set<VersionId> others_;  // those of these versions that other transactions
                                          // installed, too
  std::unordered_set<KeyId> removed_;
};

}  // namespace

std::optional<std::vector<std::string>> settled_names(std::string_view json) {
  std::vector<std::string> names;
  if (!may_be_settled(json)) return names;
  const auto event = Json::parse(json);
  const auto is = [](const Json& e) { return e.is_string() && e == "settled"; };
  if (!event.is_object() || !event.contains("event") || !is(event["event"])) return names;
  const Json* aborted = event.find("aborted");
  if (aborted == nullptr) return names;
  if (!aborted->is_array()) return std::nullopt;
  for (const Json& name : *aborted) {
    if (!name.is_string() && !name.is_integer()) return std::nullopt;
    names.push_back(name.is_string() ? name.text() : name.dump());
  }
  return names;
}

uint64_t settled_bytes(std::span<const Event> events) {
  constexpr uint64_t kBytesOfSettled = 40;  // per byte of the event
  uint64_t bytes = 0;
  for (const Event& event : events)
    if (may_be_settled(event.json)) bytes += kBytesOfSettled * event.json.size();
  return bytes;
}

Result<std::vector<TxnId>> settled_transactions(const History& h,
                                                std::span<const uint32_t> order_lines) {
  std::vector<TxnId> aborted;
  std::unordered_map<std::string, TxnId> named;
  for (const Event& event : h.events())
    if (auto names = settled_names(event.json))
      for (std::string& name : *names) named.try_emplace(std::move(name), kNone);
  if (named.empty()) return aborted;
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    const std::string name = h.name(t);
    const auto it = named.find(name);
    if (it == named.end()) continue;
    if (const TxnId other = std::exchange(it->second, t); other != kNone)
      return bad_input(
          "another transaction, of line " + std::to_string(h.line(other)) + ", is called " + name +
              " too; expected unique names, because an event \"settled\" uses this one",
          h.line(t));
    if (h.status(t) == TxnStatus::committed)
      return contradiction("transaction " + name + " is committed", h.line(t));
    if (h.status(t) == TxnStatus::unknown) aborted.push_back(t);
  }
  if (aborted.empty() || h.known_orders().empty()) return aborted;
  if (Status s = OrderCheck(h, aborted).run(order_lines); !s.ok()) return s.error();
  return aborted;
}

}  // namespace assay::internal
