#include "certify/stated_orders.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "certify/reads.h"

namespace assay::internal::certify {

StatedOrders::StatedOrders(const History& history) {
  if (history.known_orders().empty() && history.orders_complete_to() == Interval::kUnknown) return;
  find_writers(history);
  for (const KnownOrder& line : history.known_orders()) {
    std::vector<TxnId>& named = named_.emplace_back();
    for (size_t i = 0; i < line.versions.size(); ++i)
      named.push_back(line.txn(i) == kNone ? entry(history, line.key, i, line.versions[i])
                                           : stated_entry(history, line.txn(i), line.versions[i]));
  }
  drop_opposites(history);
  look_for_lost_commits(history);
}

void StatedOrders::find_writers(const History& history) {
  writers_.resize(history.version_count());
  emptied_.resize(history.key_count());
  for (TxnId t = 0; t < history.txn_count(); ++t) {
    if (history.status(t) == TxnStatus::aborted) continue;
    for (OpId i = history.first_op(t); i < history.end_op(t); ++i) {
      const Operation op = history.op(i);
      if (!writes(op)) continue;
      Writer& writer = writers_[op.version];
      if (writer.txn != t) {
        writer.transactions = writer.txn == kNone ? 1 : 2;
        writer.txn = t;
        writer.writes = 0;
      }
      ++writer.writes;
      if (op.kind == OpKind::remove || history.version_value(op.version).is_null())
        emptied_[op.key] = true;
    }
  }
}

TxnId StatedOrders::entry(const History& history, KeyId key, size_t place, VersionId version) {
  if (place == 0 && history.is_initial(version)) return kNone;
  if (history.version_value(version).is_null() && emptied_[key]) return kNone;
  const Writer& writer = writers_[version];
  if (writer.transactions == 0 && contradiction_.empty())
    contradiction_ =
        fmt::format("the stated order of {} names {}, which nobody can have installed there",
                    history.key(key).to_string(), history.version_value(version).to_string());
  return writer.transactions == 1 ? writer.txn : kNone;
}

// How often a transaction that did not abort wrote the version.
uint32_t StatedOrders::count_writes(const History& history, TxnId t, VersionId version) const {
  const Writer& writer = writers_[version];
  if (writer.transactions == 1) return writer.txn == t ? writer.writes : 0;
  uint32_t count = 0;
  for (OpId i = history.first_op(t); i < history.end_op(t); ++i)
    if (writes(history.op(i)) && history.op(i).version == version) ++count;
  return count;
}

TxnId StatedOrders::stated_entry(const History& history, TxnId txn, VersionId version) {
  if (history.status(txn) != TxnStatus::aborted && count_writes(history, txn, version) > 0)
    return txn;
  if (contradiction_.empty())
    contradiction_ = fmt::format(
        "a stated order names {} of transaction {}, which nobody can have "
        "installed there",
        history.version_value(version).to_string(), history.name(txn));
  return kNone;
}

// What a transaction leaves behind of a key is its last write of it, and every element that it appends to a list.
void StatedOrders::look_for_lost_commits(const History& history) {
  const int64_t complete_to = history.orders_complete_to();
  if (complete_to == Interval::kUnknown) return;
  std::set<std::pair<VersionId, TxnId>> listed;  // kNone: by somebody
  std::set<KeyId> deletions;                     // keys of which some deletion is listed, nobody's
  for (const KnownOrder& line : history.known_orders())
    for (size_t i = 0; i < line.versions.size(); ++i) {
      listed.insert({line.versions[i], line.txn(i)});
      if (line.txn(i) == kNone && history.version_value(line.versions[i]).is_null())
        deletions.insert(line.key);
    }
  for (TxnId t = 0; t < history.txn_count() && contradiction_.empty(); ++t) {
    const Interval end = history.end_time(t);
    if (history.status(t) != TxnStatus::committed || !end.known() || end.response > complete_to)
      continue;
    std::map<KeyId, OpId> last;
    for (OpId i = history.first_op(t); i < history.end_op(t); ++i)
      if (writes(history.op(i))) last[history.op(i).key] = i;
    for (OpId i = history.first_op(t); i < history.end_op(t); ++i) {
      const Operation op = history.op(i);
      if (!writes(op) || (op.kind != OpKind::append && last[op.key] != i)) continue;
      const bool found = listed.contains({op.version, t}) || listed.contains({op.version, kNone}) ||
                         (op.kind == OpKind::remove && deletions.contains(op.key));
      if (!found && contradiction_.empty())
        contradiction_ =
            fmt::format("lost-commit: the complete orders lack {} of transaction {}",
                        history.version_value(op.version).to_string(), history.name(t));
    }
  }
}

void StatedOrders::drop_opposites(const History& history) {
  std::map<KeyId, std::vector<size_t>> lines;
  for (size_t i = 0; i < named_.size(); ++i) lines[history.known_orders()[i].key].push_back(i);
  for (const auto& [key, of_key] : lines) {
    if (!opposite(history, of_key)) continue;
    for (const size_t i : of_key) named_[i].assign(named_[i].size(), kNone);
    if (contradiction_.empty())
      contradiction_ = fmt::format("the stated orders of {} put two versions in opposite orders",
                                   history.key(key).to_string());
  }
}

// Takes away what nothing precedes until nothing is left, or everything that is left is preceded.
bool StatedOrders::opposite(const History& history, const std::vector<size_t>& lines) const {
  using Version = std::pair<TxnId, VersionId>;
  std::set<std::pair<Version, Version>> pairs;
  std::map<Version, size_t> preceded;  // by this many others
  for (const size_t line : lines) {
    const KnownOrder& order = history.known_orders()[line];
    Version before{kNone, kNone};
    for (size_t i = 0; i < named_[line].size(); ++i) {
      const Version version{named_[line][i], order.versions[i]};
      if (version.first == kNone || count_writes(history, version.first, version.second) > 1)
        continue;
      preceded.try_emplace(version, 0);
      if (before.first != kNone && pairs.insert({before, version}).second) ++preceded[version];
      before = version;
    }
  }
  std::vector<Version> first;
  for (const auto& [version, by] : preceded)
    if (by == 0) first.push_back(version);
  size_t taken = 0;
  for (; taken < first.size(); ++taken)
    for (auto it = pairs.lower_bound({first[taken], {0, 0}});
         it != pairs.end() && it->first == first[taken]; ++it)
      if (--preceded[it->second] == 0) first.push_back(it->second);
  return taken < preceded.size();
}

}  // namespace assay::internal::certify
