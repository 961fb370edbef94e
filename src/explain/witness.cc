#include "explain/witness.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "assay/verify.h"
#include "history/accesses.h"
#include "history/projection.h"
#include "levels/walk.h"

namespace assay::internal {
namespace {

constexpr size_t kMostTxns = 50;

}  // namespace

std::vector<TxnId> possible_sources(const History& h, std::span<const TxnId> txns) {
  std::vector<bool> seen(h.version_count()), absent(h.key_count());
  const auto note = [&](KeyId key, VersionId version) {
    seen[version] = true;
    if (h.version_value(version).is_null()) absent[key] = true;
  };
  for (const TxnId t : txns) {
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
      const Observation observed = observation_of(h, i);
      if (observed.accepts == Accepts::equals) note(observed.key, observed.version);
      if (observed.accepts == Accepts::absent) absent[observed.key] = true;
      if (observed.accepts == Accepts::list)
        for (const VersionId element : elements_of(h, i)) seen[element] = true;
      if (observed.accepts == Accepts::rows)
        each_row(h, i, [&](VersionId row) { note(h.version_key(row), row); });
    }
  }
  std::vector<std::pair<VersionId, TxnId>> writers;
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
      if (!installs_version(h.op(i))) continue;
      const Install install = install_of(h, i);
      if (seen[install.version] || (absent[install.key] && is_absent(h, install.state())))
        writers.emplace_back(install.version, t);
    }
  }
  std::sort(writers.begin(), writers.end());
  writers.erase(std::unique(writers.begin(), writers.end()), writers.end());
  std::vector<TxnId> sources;
  for (size_t i = 0; i < writers.size();) {
    size_t end = i;
    while (end < writers.size() && writers[end].first == writers[i].first) ++end;
    if (end - i <= kMostTxns)
      for (size_t w = i; w < end; ++w) sources.push_back(writers[w].second);
    i = end;
  }
  return sources;
}

std::optional<Witness> Witness::of(const History& h, std::vector<TxnId> txns) {
  tidy(txns);
  if (txns.size() > kMostTxns) return std::nullopt;
  const std::vector<TxnId> sources = possible_sources(h, txns);
  txns.insert(txns.end(), sources.begin(), sources.end());
  tidy(txns);
  Witness witness;
  Result<History> part = part_of(h, txns, &witness.origins_);
  if (!part.ok()) return std::nullopt;
  witness.part_ = *std::move(part);
  return witness;
}

std::optional<Witness::Smallest> Witness::smallest(const Shows& shows, uint64_t most_tries) const {
  ShrinkOptions options;
  options.most_tries = most_tries;
  options.whole_transactions = true;
  Result<Shrunk> small = shrink(part_, shows, options);
  if (!small.ok()) return std::nullopt;
  Smallest smallest;
  smallest.minimal = small->complete;
  smallest.witness.part_ = std::move(small->history);
  for (const OpId op : small->origins) smallest.witness.origins_.push_back(origins_[op]);
  return smallest;
}

bool Witness::shown_at_once(const History& whole, const Shows& shows) const {
  bool ranges = false;
  for (OpId i = 0; i < whole.op_count() && !ranges; ++i) ranges = is_range(whole.op(i));
  if (!ranges) return true;
  const Result<History> part = part_of(whole, transactions_of(whole));
  return part.ok() && shows(*part);
}

std::vector<TxnId> Witness::transactions_of(const History& whole) const {
  std::vector<TxnId> txns;
  for (const OpId op : origins_) txns.push_back(whole.txn_of(op));
  tidy(txns);
  return txns;
}

Explanation Witness::in_whole(Explanation story, const History& whole) const {
  const auto txn = [&](TxnId t) {
    return t == kNone ? kNone : whole.txn_of(origins_[part_.first_op(t)]);
  };
  // A dependency is on a transaction that wrote the key.
  const auto key = [&](KeyId k) {
    for (OpId i = 0; i < part_.op_count() && k != kNone; ++i)
      if (installs_version(part_.op(i)) && part_.op(i).key == k) return whole.op(origins_[i]).key;
    return kNone;
  };
  for (TxnId& t : story.transactions) t = txn(t);
  for (OpId& op : story.operations) op = origins_[op];
  for (Arrow& arrow : story.arrows) {
    arrow.from = txn(arrow.from);
    arrow.to = txn(arrow.to);
    arrow.key = key(arrow.key);
  }
  return story;
}

Result<History> part_of(const History& h, std::span<const TxnId> txns, std::vector<OpId>* origins) {
  std::vector<bool> keep(h.op_count());
  for (const TxnId t : txns)
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i) keep[i] = true;
  return project(h, keep, origins);
}

std::vector<Refuted> refuted(const History& few, std::vector<LevelId> levels) {
  constexpr uint64_t kEffort = 1'000'000;
  std::vector<Refuted> found;
  if (levels.empty()) return found;
  CheckOptions options;
  options.budget = Budget(0, 0, kEffort);
  options.levels = std::move(levels);
  const CheckResult decided = decide_levels(few, options);
  for (const Verdict& v : decided.verdicts)
    if (v.outcome == Outcome::violated && v.certificate < decided.certificates.size() &&
        verify(decided.certificates[v.certificate], few).ok())
      found.push_back({v.level, decided.certificates[v.certificate]});
  return found;
}

}  // namespace assay::internal
