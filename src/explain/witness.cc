#include "explain/witness.h"

#include <algorithm>
#include <utility>

#include "history/accesses.h"
#include "history/projection.h"

namespace assay::internal {
namespace {

constexpr size_t kMostTxns = 50;

template <class T>
void sort_and_unique(std::vector<T>& v) {
  std::sort(v.begin(), v.end());
  v.erase(std::unique(v.begin(), v.end()), v.end());
}

// Keys that an operation is about.
std::vector<KeyId> keys_of(const History& h, OpId i) {
  const Operation op = h.op(i);
  if (!is_range(op)) return {op.key};
  const auto [from, to] = bounds_of(h, i);
  std::vector<KeyId> keys;
  for (const KeyId bound : {from, to})
    if (bound != kNone) keys.push_back(bound);
  for (const VersionId row : rows_of(h, i)) keys.push_back(h.version_key(row));
  return keys;
}

}  // namespace

std::optional<Witness> Witness::of(const Accesses& accesses, std::vector<TxnId> txns) {
  const History& h = accesses.history();
  sort_and_unique(txns);
  if (txns.size() > kMostTxns) return std::nullopt;
  std::vector<TxnId> sources;
  for (const TxnId t : txns)
    for (const Access& a : accesses.all_reads(t))
      if (const TxnId writer = accesses.writer(a.version); writer != kNone)
        sources.push_back(writer);
  txns.insert(txns.end(), sources.begin(), sources.end());
  sort_and_unique(txns);
  std::vector<bool> keep(h.op_count());
  for (const TxnId t : txns)
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i) keep[i] = true;
  Witness witness;
  Result<History> part = project(h, keep, &witness.origins_);
  if (!part.ok()) return std::nullopt;
  witness.part_ = *std::move(part);
  return witness;
}

std::optional<Witness::Smallest> Witness::smallest(const Shows& shows, uint64_t most_tries) const {
  ShrinkOptions options;
  options.most_tries = most_tries;
  Result<Shrunk> small = shrink(part_, shows, options);
  if (!small.ok()) return std::nullopt;
  Smallest smallest;
  smallest.minimal = small->complete;
  smallest.witness.part_ = std::move(small->history);
  for (const OpId op : small->origins) smallest.witness.origins_.push_back(origins_[op]);
  return smallest;
}

std::vector<TxnId> Witness::transactions_of(const History& whole) const {
  std::vector<TxnId> txns;
  for (const OpId op : origins_) txns.push_back(whole.txn_of(op));
  sort_and_unique(txns);
  return txns;
}

Explanation Witness::in_whole(Explanation told, const History& whole) const {
  const auto by_name = [&](KeyId a, KeyId b) { return key_less(whole.key(a), whole.key(b)); };
  std::vector<KeyId> keys;
  for (const OpId op : origins_)
    for (const KeyId key : keys_of(whole, op)) keys.push_back(key);
  std::sort(keys.begin(), keys.end(), by_name);
  const auto txn = [&](TxnId t) {
    return t == kNone ? kNone : whole.txn_of(origins_[part_.first_op(t)]);
  };
  const auto key = [&](KeyId k) {
    if (k == kNone) return kNone;
    return *std::lower_bound(keys.begin(), keys.end(), k, [&](KeyId a, KeyId b) {
      return key_less(whole.key(a), part_.key(b));
    });
  };
  for (TxnId& t : told.transactions) t = txn(t);
  for (OpId& op : told.operations) op = origins_[op];
  for (Arrow& arrow : told.arrows) {
    arrow.from = txn(arrow.from);
    arrow.to = txn(arrow.to);
    arrow.key = key(arrow.key);
  }
  return told;
}

}  // namespace assay::internal
