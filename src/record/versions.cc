// A row has the 32 bits of its writer's number (rule 32).
//
//   log: 739 accounts:7, 740 accounts:7        a row says: accounts:7 of 739 → the first of two
//                                              versions
//
// A number of which the log has a write of this very key is that transaction's. Another one that is
// older than the recording belongs to an initial version. Anything else has no known writer, such
// as a savepoint's or that of a table that was written anew.
//
// Cost: a look-up of the key and of the number. Memory: for each change of the log a number and the
// row, once more in the history.
#include "record/versions.h"

#include <algorithm>
#include <utility>

namespace assay::internal::record {
namespace {

using collect::schedule::RowHistory;
using collect::schedule::RowOperation;

constexpr uint32_t kLastSpecialNumber = 2;  // of rows that are older than numbers

// Numbers go round.
bool is_before(uint32_t number, uint32_t bound) {
  return number <= kLastSpecialNumber || static_cast<int32_t>(number - bound) < 0;
}

}  // namespace

void Versions::add(const LoggedChanges& logged, const std::string& name, size_t client) {
  const size_t log = writers_.size();
  writers_.push_back({name, client});
  by_number_[logged.number] = log;
  for (const LoggedChange& c : logged.changes) {
    if (!c.old_key.empty()) install(c.old_key, {log, true, {}}, true);
    install(c.key, {log, c.kind == LoggedChange::Kind::remove, c.row},
            c.kind != LoggedChange::Kind::insert && c.old_key.empty());
  }
}

void Versions::install(const std::string& key, Install version, bool was_there) {
  std::vector<Install>& all = installs_[key];
  if (all.empty() && was_there) first_row(key);
  if (!all.empty() && all.back().log == version.log) all.pop_back();
  all.push_back(std::move(version));
}

const Versions::Install* Versions::install_of(const std::string& key, size_t log) const {
  const auto at = installs_.find(key);
  if (at == installs_.end()) return nullptr;
  const auto version = std::ranges::lower_bound(at->second, log, {}, &Install::log);
  return version == at->second.end() || version->log != log ? nullptr : &*version;
}

// Rows that are not known by what they hold are known to have been there.
const std::string& Versions::first_row(const std::string& key) {
  const auto [first, fresh] = first_.try_emplace(key, collect::schedule::kUnseenRow);
  if (!fresh) return first->second;
  const auto at = seen_.first_rows.find(key);
  if (at == seen_.first_rows.end() || !is_before(at->second.first, seen_.bound()))
    return first->second;
  const auto by = by_number_.find(at->second.first);
  if (by == by_number_.end() || install_of(key, by->second) == nullptr)
    first->second = at->second.second;
  return first->second;
}

RowOperation Versions::stated(const std::string& key, const Install& version) const {
  return {.key = key, .row = version.row, .source = writers_[version.log].name, .stated = true};
}

Versions::Read Versions::read(const SeenVersion& version, size_t reader, bool may_have_number) {
  const auto by = by_number_.find(version.writer);
  const Install* const install =
      by == by_number_.end() ? nullptr : install_of(version.key, by->second);
  if (install != nullptr) {
    const size_t writer = client(by->second);
    if (writer == reader || install->removed) return {};
    if (may_have_number && writer == kNoClient) return {.unattributed = true};  // it may be its own
    return {.op = stated(version.key, *install)};
  }
  if (!is_before(version.writer, seen_.bound())) return {.unattributed = true};
  return {.op = RowOperation{.key = version.key, .row = first_row(version.key), .stated = true}};
}

std::optional<RowOperation> Versions::replaced(const std::string& key, size_t log) {
  const std::vector<Install>& all = installs_.at(key);
  const auto at = std::ranges::lower_bound(all, log, {}, &Install::log);
  if (at == all.begin()) return RowOperation{.key = key, .row = first_row(key), .stated = true};
  const Install& before = *std::prev(at);
  if (before.removed) return std::nullopt;
  return stated(key, before);
}

void Versions::state(RowHistory& history) const {
  for (const auto& [key, row] : first_) history.initial(key, row);
  for (const auto& [key, installs] : installs_) {
    std::vector<RowHistory::Version> versions;
    for (const Install& i : installs) versions.push_back({name(i.log), i.row, i.removed});
    history.order(key, versions);
  }
}

}  // namespace assay::internal::record
