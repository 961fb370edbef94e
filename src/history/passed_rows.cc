// The rows that queries passed over. A database's log and snapshots tell them afterwards, when the
// lines of the queries have been written already.
//
//   {"session":3,"txn":"3-17","ops":[["pred","value < 9",[[1,5]]]]}
//   {"key":2,"order":[{"txn":"1-0","value":12},{"txn":"2-0","value":7}]}
//   {"event":"passed","txn":"3-17","op":0,"versions":[[2,1],[3,0]]}
//
// Operation 0 of 3-17 saw the first version in the order of key 2, and that key 3 was absent:
// it becomes p(value < 9, [1=5], passed [2=12, 3=null]). What the query itself says of a key stays.
// The events are dropped, since copies of the history may have other operations in these places.
//
// Cost: linear in the versions that the events state, and in the operations of the history.
#include "history/passed_rows.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "history/accesses.h"
#include "history/range_operands.h"

namespace assay::internal {
namespace {

constexpr std::string_view kStart = R"({"event":"passed",)";  // as `run` writes the event

// The event's name may be written with escapes.
bool is_passed(std::string_view json) {
  if (json.starts_with(kStart)) return true;
  if (json.find("passed") == json.npos && json.find("\\u") == json.npos) return false;
  const Json event = Json::parse(json);
  const Json* const name = event.is_object() ? event.find("event") : nullptr;
  return name != nullptr && name->is_string() && name->text() == "passed";
}

bool is_key(const Json& key) { return key.is_int64() || key.is_string(); }

ValueView key_of(const Json& key) {
  return key.is_string() ? ValueView::of(key.text()) : ValueView::of(key.integer());
}

}  // namespace

PassedRows::PassedRows(History& h) : h_(h) {
  std::erase_if(h.events_, [&](Event& event) {
    if (!is_passed(event.json)) return false;
    bytes_ += event.json.size();
    events_.push_back(std::move(event.json));
    return true;
  });
}

Status PassedRows::add() {
  if (events_.empty()) return Ok{};
  if (2 * h_.pool_.size() + bytes_ > HistoryBuilder::kMaxOps)
    return bad_input("more rows than the supported 4 billion");
  for (TxnId t = 0; t < h_.txn_count(); ++t)
    if (const auto [at, fresh] = named_.try_emplace(h_.name(t), t); !fresh) at->second = kNone;
  for (const KnownOrder& order : h_.known_orders())
    if (const auto [at, fresh] = orders_.try_emplace(order.key, &order); !fresh)
      at->second = nullptr;
  deleted_.resize(h_.version_count());
  for (OpId i = 0; i < h_.op_count(); ++i)
    if (installs_version(h_.op(i)) && install_of(h_, i).removes) deleted_[h_.op(i).version] = true;
  for (const std::string& event : events_)
    if (Status s = add(Json::parse(event)); !s.ok()) return s;
  return Ok{};
}

Status PassedRows::add(const Json& event) {
  const TxnId t = txn(event.value("txn"));
  if (t == kNone) return Ok{};
  const auto refuse = [&](const std::string& expected) {
    return bad_input(
        "an event \"passed\" says what transaction " + h_.name(t) + " saw; expected " + expected,
        h_.line(t));
  };
  const std::optional<OpId> op = query(t, event.value("op"));
  if (!op) return refuse("in \"op\" the place of a query with a condition");
  if (!queries_.insert(*op).second) return refuse("one event for a query");
  const std::vector<KeyId> known = keys_of(*op);
  std::vector<VersionId> passed;
  for (const Json& row : event.value("versions")) {
    if (!row.is_array() || row.size() != 2 || !is_key(row[0]) || !row[1].is_int64())
      return refuse("in \"versions\" arrays of a key and a place in its order");
    const KeyId key = h_.keys_.intern(key_of(row[0]));
    const std::optional<VersionId> seen = version(key, row[1].integer());
    if (!seen)
      return refuse("for key " + key_of(row[0]).to_string() +
                    " a place in its only order, from 1, or 0 if it was absent");
    if (!std::ranges::binary_search(known, key))
      passed.push_back(*seen == kNone ? h_.versions_.intern(key, ValueView::null()) : *seen);
  }
  pass_over(*op, passed);
  return Ok{};
}

// The transaction of this name; kNone if there is none, or more than one.
TxnId PassedRows::txn(const Json& name) const {
  const auto at = named_.find(name.is_integer() ? name.dump() : name.text());
  return at == named_.end() ? kNone : at->second;
}

// The query with a condition at this place in the transaction.
std::optional<OpId> PassedRows::query(TxnId t, const Json& place) const {
  const int64_t ops = h_.end_op(t) - h_.first_op(t);
  if (!place.is_int64() || place.integer() < 0 || place.integer() >= ops) return std::nullopt;
  const OpId op = h_.first_op(t) + static_cast<OpId>(place.integer());
  if (!is_range(h_.op(op))) return std::nullopt;
  const Selected selected = h_.selected(op);
  if (selected.predicate == kNone || selected.aggregate != kNone) return std::nullopt;
  return op;
}

// The version at this place, from 1, in the only order of the key; kNone if the key was absent
// then, nullopt if there is no such place.
std::optional<VersionId> PassedRows::version(KeyId key, int64_t place) const {
  if (place == 0) return kNone;
  const auto at = orders_.find(key);
  if (at == orders_.end() || at->second == nullptr || place < 0) return std::nullopt;
  const std::vector<VersionId>& versions = at->second->versions;
  if (static_cast<uint64_t>(place) > versions.size()) return std::nullopt;
  const VersionId v = versions[static_cast<size_t>(place - 1)];
  return v < deleted_.size() && deleted_[v] ? kNone : v;
}

// The keys that a query names itself, ascending.
std::vector<KeyId> PassedRows::keys_of(OpId query) const {
  const Selected selected = h_.selected(query);
  std::vector<KeyId> keys(selected.matched.begin(), selected.matched.end());
  for (const auto& rows : {selected.rows, selected.passed})
    for (const VersionId v : rows) keys.push_back(h_.version_key(v));
  std::ranges::sort(keys);
  return keys;
}

void PassedRows::pass_over(OpId query, const std::vector<VersionId>& more) {
  const std::span<const uint32_t> was = h_.operands(query);
  const auto rows = was.begin() + static_cast<std::ptrdiff_t>(kRangeHead + was[4] + was[5]);
  std::vector<uint32_t> words(was.begin(), rows);
  words[5] += static_cast<uint32_t>(more.size());
  words.insert(words.end(), more.begin(), more.end());
  words.insert(words.end(), rows, was.end());
  h_.op_operands_.set(query, static_cast<uint32_t>(h_.pool_.size()));
  h_.pool_.push_back(static_cast<uint32_t>(words.size()));
  h_.pool_.insert(h_.pool_.end(), words.begin(), words.end());
}

}  // namespace assay::internal
