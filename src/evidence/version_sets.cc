#include "evidence/version_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "evidence/postgresql_snapshot.h"
#include "formats/assay_jsonl_line.h"
#include "formats/json_text.h"
#include "history/accesses.h"
#include "history/condition.h"

namespace assay::internal::evidence {
namespace {

constexpr size_t kMostQueries = 1'000'000;
constexpr uint64_t kFarthest = uint64_t{1} << 30;  // between two numbers of one run

// A key's versions by the numbers of their transactions.
struct Key {
  const OrderedVersions* versions;
  std::vector<uint64_t> most, least;  // numbers up to here, from here on
};

// The log and its keys, for looking up which version of a key a snapshot shows.
class Shown {
 public:
  // `near`: a number of the run.
  Shown(const std::vector<OrderedVersions>& keys, const std::vector<LoggedName>& log,
        uint64_t near) {
    touched_.resize(log.size());
    for (uint32_t i = 0; i < log.size(); ++i) {
      const auto xid = whole_xid(log[i].server_id, near);
      certain_ = certain_ && xid && by_xid_.emplace(*xid, i).second;
      if (!certain_) return;
      xids_.push_back(*xid);
      by_name_.emplace(log[i].name, i);
    }
    for (uint32_t k = 0; k < keys.size(); ++k) add(keys[k], k);
  }

  // The number of each transaction is known and unique.
  bool certain() const { return certain_; }

  // For what one query saw.
  void look(const PostgresqlSnapshot& snapshot, const std::string& txn) {
    snapshot_ = &snapshot;
    own_ = UINT32_MAX;
    hidden_.clear();
    if (const auto own = by_name_.find(txn); own != by_name_.end()) hide(own_ = own->second);
    for (const uint64_t xid : snapshot.running)
      if (const auto running = by_xid_.find(xid); running != by_xid_.end()) hide(running->second);
  }

  // How many versions of the key had been installed; nothing if those that the snapshot shows are
  // not the first ones.
  std::optional<size_t> versions(uint32_t key) const {
    const Key& of = keys_[key];
    const auto later = std::ranges::lower_bound(of.most, snapshot_->end);
    auto count = static_cast<size_t>(later - of.most.begin());
    if (const auto hidden = hidden_.find(key); hidden != hidden_.end())
      count = std::min<size_t>(count, hidden->second);
    for (size_t i = count; i < of.least.size() && of.least[i] < snapshot_->end; ++i)
      if (const uint32_t writer = of.versions->writers[i];
          writer != own_ && snapshot_->shows(xids_[writer]))
        return std::nullopt;
    return count;
  }

 private:
  void add(const OrderedVersions& versions, uint32_t number) {
    Key key{&versions, {}, {}};
    for (size_t i = 0; i < versions.writers.size(); ++i) {
      const uint32_t writer = versions.writers[i];
      if (i == 0 || writer != versions.writers[i - 1])
        touched_[writer].emplace_back(number, static_cast<uint32_t>(i));
      key.most.push_back(std::max(i == 0 ? 0 : key.most.back(), xids_[writer]));
    }
    key.least.resize(key.most.size());
    uint64_t least = UINT64_MAX;
    for (size_t i = key.least.size(); i-- > 0;)
      key.least[i] = least = std::min(least, xids_[versions.writers[i]]);
    keys_.push_back(std::move(key));
  }

  void hide(uint32_t txn) {
    for (const auto& [key, place] : touched_[txn])
      if (const auto [at, fresh] = hidden_.try_emplace(key, place); !fresh)
        at->second = std::min(at->second, place);
  }

  bool certain_ = true;
  std::vector<uint64_t> xids_;  // by place in the log
  std::unordered_map<uint64_t, uint32_t> by_xid_;
  std::unordered_map<std::string, uint32_t> by_name_;
  std::vector<std::vector<std::pair<uint32_t, uint32_t>>> touched_;  // keys, and the first place
  std::vector<Key> keys_;
  const PostgresqlSnapshot* snapshot_ = nullptr;
  uint32_t own_ = UINT32_MAX;
  std::unordered_map<uint32_t, uint32_t> hidden_;  // of a key the first version that is not shown
};

// The keys that ever may satisfy a condition, and which of their versions do.
class Matching {
 public:
  explicit Matching(const std::vector<OrderedVersions>& keys) : keys_(keys), rows_(keys.size()) {
    for (size_t k = 0; k < keys.size(); ++k)
      for (const auto& entry : keys[k].order.entries)
        rows_[k].push_back(entry.value.is_null() ? Row() : row_of(entry.value.view()));
  }

  bool look_for(const std::string& text) {
    if (text == text_) return true;
    const Result<Condition> condition = parse_condition(text);
    if (!condition.ok()) return false;
    text_ = text;
    found_.clear();
    for (uint32_t k = 0; k < keys_.size(); ++k) {
      Found found{k, std::vector<bool>(rows_[k].size())};
      bool any = false;
      for (size_t i = 0; i < rows_[k].size(); ++i) {
        if (keys_[k].order.entries[i].value.is_null()) continue;
        const bool may = condition->holds(rows_[k][i]).may_be_true();
        found.may[i] = may;
        any = any || may;
      }
      if (any) found_.push_back(std::move(found));
    }
    return true;
  }

  struct Found {
    uint32_t key;
    std::vector<bool> may;  // per version
  };
  const std::vector<Found>& found() const { return found_; }

 private:
  const std::vector<OrderedVersions>& keys_;
  std::vector<std::vector<Row>> rows_;
  std::string text_;
  std::vector<Found> found_;
};

bool is_within(const Value& key, const Value& low, const Value& high) {
  return (low.is_null() || !key_less(key.view(), low.view())) &&
         (high.is_null() || !key_less(high.view(), key.view()));
}

}  // namespace

void VersionSets::ended(const collect::TxnRecord& record) {
  if (record.status == TxnStatus::aborted) return;
  std::vector<Value> own;
  for (size_t i = 0; i < record.steps.size(); ++i) {
    const collect::Request& request = record.steps[i].request;
    if (changes_data(request.kind)) own.push_back(request.key);
    const std::string& snapshot = record.steps[i].reply.snapshot;
    if (snapshot.empty() || !request.selects() || request.found || request.aggregate) continue;
    Query query{fmt::format("{}-{}", record.session, record.number),
                snapshot,
                request.condition(),
                i,
                request.key,
                request.high,
                own};
    const std::lock_guard lock(mutex_);
    if (queries_.size() < kMostQueries) queries_.push_back(std::move(query));
  }
}

uint64_t VersionSets::write(const std::vector<OrderedVersions>& keys,
                            const std::vector<LoggedName>& log,
                            const std::function<void(std::string event)>& take,
                            uint64_t most_versions) {
  std::vector<std::pair<PostgresqlSnapshot, const Query*>> known;
  uint64_t first = UINT64_MAX, last = 0;
  for (const Query& query : queries_) {
    auto snapshot = postgresql_snapshot(query.snapshot);
    if (!snapshot) continue;
    first = std::min(first, snapshot->least);
    last = std::max(last, snapshot->end);
    known.emplace_back(std::move(*snapshot), &query);
  }
  if (known.empty() || last - first > kFarthest) return 0;
  Shown shown(keys, log, last);
  if (!shown.certain()) return 0;
  std::ranges::stable_sort(
      known, {}, [](const auto& one) -> const std::string& { return one.second->condition; });
  Matching matching(keys);
  uint64_t stated = 0, versions = 0;
  for (const auto& [snapshot, query] : known) {
    if (!matching.look_for(query->condition)) continue;
    shown.look(snapshot, query->txn);
    std::string rows;
    bool agree = true;
    for (const auto& [key, may] : matching.found()) {
      const Value& name = keys[key].order.key;
      if (!is_within(name, query->low, query->high) ||
          std::ranges::find(query->own, name) != query->own.end())
        continue;
      const std::optional<size_t> count = shown.versions(key);
      agree = agree && count;
      if (!agree) break;
      if (*count > 0 && may[*count - 1]) continue;  // the query returned it
      rows += rows.empty() ? "[" : ",[";
      formats::append_json_value(rows, name.view());
      rows += ',';
      formats::append_integer(rows, static_cast<int64_t>(*count));
      rows += ']';
      ++versions;
    }
    if (!agree) continue;
    if (versions > most_versions) break;
    ++stated;
    if (rows.empty()) continue;
    std::string event = R"({"event":"passed","txn":)";
    formats::append_json_string(event, query->txn);
    take(event + fmt::format(R"(,"op":{},"versions":[{}]}})", query->op, rows));
  }
  return stated;
}

}  // namespace assay::internal::evidence
