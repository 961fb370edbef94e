// A row has the 32 bits of its writer's number (rule 32).
//
//   log: 739 accounts:7, 740 accounts:7        a row says: accounts:7 of 739 → the first of two
//                                              versions
//
// A number of which the log has a write of this very key is that transaction's; so is that of a
// savepoint, where the commit is known to list it. Another one that is
// older than the recording belongs to an initial version. Anything else has no known writer, such
// as a savepoint's or that of a table that was written anew.
//
// What a version holds is forgotten once it was replaced and no transaction is left that may still
// read it. A read that comes nevertheless has no known writer.
//
// Cost: a look-up of the key and of the number. Memory: the keys and their last rows, and of each
// other version a number, of each transaction of the log three.
#include "record/versions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace assay::internal::record {
namespace {

using collect::schedule::RowOperation;

constexpr uint32_t kLastSpecialNumber = 2;  // of rows that are older than numbers

// Numbers go round.
bool is_before(uint32_t number, uint32_t bound) {
  return number <= kLastSpecialNumber || static_cast<int32_t>(number - bound) < 0;
}

}  // namespace

std::string Versions::name(size_t log) const {
  const Writer& writer = writers_[log];
  return writer.client.nth > 0 ? writer.client.name() : fmt::format("xid-{}", writer.number);
}

void Versions::add(LoggedChanges& logged, const ClientTxn& client) {
  const auto log = static_cast<uint32_t>(writers_.size());
  by_number_[logged.number] = log;
  for (const uint32_t number : logged.below) by_number_[number] = log;
  if (!logged.below.empty()) below_[log] = logged.below;
  writers_.push_back({client, logged.number});
  std::vector<LoggedChange> changes;
  for (LoggedChange& change : logged.changes) {
    if (change.kind != LoggedChange::Kind::truncate) {
      add_change(change);
      changes.push_back(std::move(change));
      continue;
    }
    for (LoggedChange& removal : removals(change.table)) {
      add_change(removal);
      changes.push_back(std::move(removal));
    }
  }
  logged.changes = std::move(changes);
}

// Every row that is known.
std::vector<LoggedChange> Versions::removals(const std::string& table) const {
  std::set<std::string> keys;
  const auto look = [&](const auto& from) {
    for (auto at = from.lower_bound(table + ":"); at != from.end(); ++at) {
      if (!at->first.starts_with(table + ":")) break;
      keys.insert(at->first);
    }
  };
  look(versions_);
  look(seen_.first_rows);
  std::vector<LoggedChange> all;
  for (const std::string& key : keys)
    all.push_back({LoggedChange::Kind::remove, table, key, {}, {}});
  return all;
}

void Versions::add_change(const LoggedChange& c) {
  const bool removes = c.kind == LoggedChange::Kind::remove;
  if (!c.old_key.empty()) install(c.old_key, true, {}, true);
  install(c.key, removes, c.row, c.kind != LoggedChange::Kind::insert && c.old_key.empty());
}

void Versions::install(const std::string& key, bool removed, const std::string& row,
                       bool was_there) {
  const auto log = static_cast<uint32_t>(writers_.size() - 1);
  Versioned& of = versions_[key];
  if (of.order.empty() && was_there) first_row(key, of);
  if (!of.order.empty() && of.order.back().log == log) {
    of.order.back().removed = removed ? 1 : 0;
    of.rows.back() = row;
    return;
  }
  if (!of.order.empty()) replaced_.emplace_back(log, &of);
  of.order.push_back({log & 0x7FFFFFFF, removed ? 1u : 0u});
  of.rows.push_back(row);
  ++writers_[log].readable;
}

void Versions::Versioned::forget_one() {
  ++forgotten;
  const size_t of_rows = forgotten - (order.size() - rows.size());
  rows[of_rows - 1] = {};
  if (2 * of_rows >= rows.size())
    rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(of_rows));
}

void Versions::forget_replaced_before(size_t log) {
  for (; !replaced_.empty() && replaced_.front().first < log; replaced_.pop_front()) {
    Versioned& of = *replaced_.front().second;
    const size_t writer = of.order[of.forgotten].log;
    of.forget_one();
    if (--writers_[writer].readable > 0) continue;
    const auto drop = [&](uint32_t number) {
      const auto at = by_number_.find(number);
      if (at != by_number_.end() && at->second == writer) by_number_.erase(at);
    };
    drop(writers_[writer].number);
    if (const auto below = below_.find(static_cast<uint32_t>(writer)); below != below_.end()) {
      for (const uint32_t number : below->second) drop(number);
      below_.erase(below);
    }
  }
}

size_t Versions::first_unseen(const std::set<uint32_t>& going_on, size_t logged) const {
  for (const uint32_t number : going_on)
    if (const auto at = by_number_.find(number); at != by_number_.end())
      logged = std::min<size_t>(logged, at->second);
  return logged;
}

bool Versions::has_version(const Versioned& of, uint32_t number) const {
  return std::ranges::any_of(of.order,
                             [&](const auto& v) { return writers_[v.log].number == number; });
}

// Rows that are not known by what they hold are known to have been there.
const std::string& Versions::first_row(const std::string& key, Versioned& of) {
  if (of.first) return *of.first;
  of.first = collect::schedule::kUnseenRow;
  const auto at = seen_.first_rows.find(key);
  if (at != seen_.first_rows.end() && is_before(at->second.first, seen_.bound()) &&
      !has_version(of, at->second.first))
    of.first = at->second.second;
  return *of.first;
}

RowOperation Versions::stated(const std::string& key, const Versioned& of, size_t place) const {
  return {.key = key, .row = of.row(place), .source = name(of.order[place].log), .stated = true};
}

Versions::Read Versions::read(const SeenVersion& version, const ClientTxn& reader,
                              bool may_have_number) {
  Versioned& of = versions_[version.key];
  if (const auto by = by_number_.find(version.writer); by != by_number_.end()) {
    const auto at = std::ranges::lower_bound(of.order, by->second, {},
                                             [](const auto& v) { return uint32_t{v.log}; });
    const auto place = static_cast<size_t>(at - of.order.begin());
    if (at != of.order.end() && at->log == by->second && place >= of.forgotten) {
      const ClientTxn& writer = writers_[at->log].client;
      if (writer == reader || at->removed != 0) return {};
      if (may_have_number && writer.nth == 0) return {.unattributed = true};  // it may be its own
      return {.op = stated(version.key, of, place)};
    }
  }
  if (!is_before(version.writer, seen_.bound()) || has_version(of, version.writer))
    return {.unattributed = true};
  return {.op =
              RowOperation{.key = version.key, .row = first_row(version.key, of), .stated = true}};
}

std::optional<RowOperation> Versions::replaced(const std::string& key, size_t log) {
  Versioned& of = versions_.at(key);
  const auto at = std::ranges::lower_bound(of.order, static_cast<uint32_t>(log), {},
                                           [](const auto& v) { return uint32_t{v.log}; });
  if (at == of.order.begin())
    return RowOperation{.key = key, .row = first_row(key, of), .stated = true};
  const auto before = static_cast<size_t>(at - of.order.begin()) - 1;
  if (of.order[before].removed != 0 || before < of.forgotten) return std::nullopt;
  return stated(key, of, before);
}

void Versions::state(collect::schedule::RowSink& history) const {
  for (const auto& [key, of] : versions_)
    if (of.first) history.initial(key, *of.first);
  std::vector<collect::schedule::RowSink::Version> versions;
  for (const auto& [key, of] : versions_) {
    versions.clear();
    for (const auto& v : of.order) versions.push_back({name(v.log), v.removed != 0});
    if (!versions.empty()) history.order(key, versions);
  }
}

}  // namespace assay::internal::record
