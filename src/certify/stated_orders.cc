#include "certify/stated_orders.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "certify/reads.h"

namespace assay::internal::certify {

StatedOrders::StatedOrders(const History& history) {
  if (history.known_orders().empty()) return;
  find_writers(history);
  for (const KnownOrder& line : history.known_orders()) {
    std::vector<TxnId>& named = named_.emplace_back();
    for (size_t i = 0; i < line.versions.size(); ++i)
      named.push_back(entry(history, line.key, i, line.versions[i]));
  }
  drop_opposites(history);
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
  std::set<std::pair<VersionId, VersionId>> pairs;
  std::map<VersionId, size_t> preceded;  // by this many others
  for (const size_t line : lines) {
    VersionId before = kNone;
    for (size_t i = 0; i < named_[line].size(); ++i) {
      const VersionId version = history.known_orders()[line].versions[i];
      if (named_[line][i] == kNone || writers_[version].writes > 1) continue;
      preceded.try_emplace(version, 0);
      if (before != kNone && pairs.insert({before, version}).second) ++preceded[version];
      before = version;
    }
  }
  std::vector<VersionId> first;
  for (const auto& [version, by] : preceded)
    if (by == 0) first.push_back(version);
  size_t taken = 0;
  for (; taken < first.size(); ++taken)
    for (auto it = pairs.lower_bound({first[taken], 0});
         it != pairs.end() && it->first == first[taken]; ++it)
      if (--preceded[it->second] == 0) first.push_back(it->second);
  return taken < preceded.size();
}

}  // namespace assay::internal::certify
