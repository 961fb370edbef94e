// A source for each open read that no edge of a search rests on.
//
//   A { w(x,1) }   B { w(x,9) w(y,1) }   C { p(value < 2,[y=1]) }
//   C read y from B and skipped x. It has seen B, so of x it saw what B left or a later version;
//   not the initial state, and not A's x, which satisfies the condition.
//
// A query skips every row that does not satisfy its condition, and most versions of these rows do
// not satisfy it either. Any of them will do that is not older than what the reader has seen; the
// oldest one adds the least to that. Reads become choices only where there is none, and where an
// edge rests on their source.
//
// Cost: the writes of the transactions that are read from, and the possible sources of the reads.

#include "levels/waiting_sources.h"

#include <algorithm>
#include <numeric>

#include "base/sort_by.h"

namespace assay::internal {

WaitingSources::WaitingSources(const Problem& problem, const LevelInfo& level,
                               const OpenReads& open, const SourceFacts& facts)
    : problem_(problem),
      earlier_reads_only_(level.seen.earlier_reads),
      open_(open),
      facts_(facts),
      reads_(open.all().size()),
      source_(open.all().size(), kNone) {
  std::iota(reads_.begin(), reads_.end(), 0u);
  stable_sort_by(reads_, [&](uint32_t read) { return open.all()[read].op; });
}

std::vector<uint32_t> WaitingSources::find(std::span<const uint32_t> place, const Search& search) {
  std::vector<uint32_t> unexplained;
  TxnId reader = kNone;
  std::span<const ExternalRead> known;
  for (const uint32_t index : reads_) {
    const OpenRead& read = open_.all()[index];
    if (read.reader != reader) {
      reader = read.reader;
      seen_.clear();
      const Node n = problem_.node_of(reader);
      known = n == kNone ? std::span<const ExternalRead>() : problem_.reads[n];
    }
    for (; !known.empty() && (!earlier_reads_only_ || known.front().op <= read.op);
         known = known.subspan(1))
      if (const WriteId w = known.front().write; w != kNone)
        see(problem_.txn[problem_.writes.node[w]], place);
    const std::span<const Search::Source> made = search.sources_of(index);
    std::optional<TxnId> source;
    if (facts_.is_fact(read)) {
      source = read.sources[0];
    } else if (!made.empty() || facts_.is_possible(read.reader)) {
      const auto taken = std::ranges::find_if(
          made, [&](const Search::Source& one) { return search.taken(one.side); });
      source = taken == made.end() ? kNone : taken->txn;  // none if the reader takes no effect
    } else {
      source = earliest(read, place);
    }
    if (!source) unexplained.push_back(index);
    source_[index] = source.value_or(kNone);
    see(source_[index], place);
  }
  return unexplained;
}

void WaitingSources::see(TxnId source, std::span<const uint32_t> place) {
  const Node n = source == kNone ? kNone : problem_.node_of(source);
  if (n == kNone) return;
  for (const WriteId w : problem_.writes.of(n)) {
    uint32_t& last = seen_[problem_.writes.key[w]];
    last = std::max(last, place[source]);
  }
}

std::optional<TxnId> WaitingSources::earliest(const OpenRead& read,
                                              std::span<const uint32_t> place) const {
  const auto seen = seen_.find(read.key);
  std::optional<TxnId> best;
  for (const TxnId t : read.sources) {
    if (t == kNone) {
      if (seen == seen_.end()) return kNone;
      continue;
    }
    if (facts_.is_possible(t) || place[t] >= place[read.reader]) continue;
    if (seen != seen_.end() && place[t] < seen->second) continue;
    if (!best || place[t] < place[*best]) best = t;
  }
  return best;
}

}  // namespace assay::internal
