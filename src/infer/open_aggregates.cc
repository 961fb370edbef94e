// Which open reads an aggregate needs.
//
//   A { w(x,1) }   B { w(y,2) }   C { agg(sum value, value > 0,[3]) }       C needs a read of x and
//                                                                           one of y
//
// What an aggregate says about single keys is its claim, a condition like any other. Otherwise the
// state of the keys is as open as that of skipped rows: each becomes a read of any state, and the
// aggregate is evaluated once these have sources.
//
// Cost: for each aggregate the keys that may satisfy its condition.

#include "infer/open_aggregates.h"

#include <algorithm>

namespace assay::internal {
namespace {

OpId operation_of(const OpenAggregate& one) { return one.terms.op(); }

}  // namespace

OpenAggregates::OpenAggregates(const History& history, std::span<const OpId> all) : h_(history) {
  if (all.empty()) return;
  for (AggregateTerms& terms : decidable_aggregates(history, all))
    all_.push_back({std::move(terms)});
}

std::span<const OpenAggregate> OpenAggregates::of(TxnId t) const {
  const auto first = std::ranges::lower_bound(all_, h_.first_op(t), {}, operation_of);
  return {first, std::ranges::lower_bound(first, all_.end(), h_.end_op(t), {}, operation_of)};
}

bool OpenAggregates::observes(OpId op, KeyId key) const {
  const auto one = std::ranges::lower_bound(all_, op, {}, operation_of);
  return one == all_.end() || operation_of(*one) != op ||
         !std::ranges::binary_search(one->unclaimed, key);
}

void OpenAggregates::add_unclaimed(OpId op, const TouchedKeys& keys,
                                   std::vector<Observation>& seen) {
  const auto one = std::ranges::lower_bound(all_, op, {}, operation_of);
  if (one == all_.end() || operation_of(*one) != op) return;
  std::vector<KeyId> claimed;
  for (const Observation& claim : seen) claimed.push_back(claim.key);
  std::sort(claimed.begin(), claimed.end());
  one->unclaimed.clear();
  for (const KeyId key : keys.that_may_satisfy(op, one->terms.where()))
    if (!std::ranges::binary_search(claimed, key)) {
      seen.push_back({op, key, kNone, Accepts::any});
      one->unclaimed.push_back(key);
    }
  std::sort(one->unclaimed.begin(), one->unclaimed.end());
}

void OpenAggregates::note_reads(TxnId t, const std::unordered_map<KeyId, uint32_t>& reads) {
  auto one = std::ranges::lower_bound(all_, h_.first_op(t), {}, operation_of);
  for (; one != all_.end() && operation_of(*one) < h_.end_op(t); ++one) {
    one->reads.clear();
    for (const KeyId key : one->terms.keys()) {
      const auto found = reads.find(key);
      const bool open = one->terms.own(key) == nullptr && found != reads.end();
      one->reads.push_back(open ? found->second : kNone);
      if (!open) continue;
      needed_.resize(std::max<size_t>(needed_.size(), found->second + 1));
      needed_[found->second] = 1;
    }
  }
}

}  // namespace assay::internal
