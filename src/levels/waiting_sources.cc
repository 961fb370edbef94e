// A source for each open read that no edge of a search rests on.
//
//   A { w(x,1) }   B { w(x,9) w(y,1) }   C { p(value < 2,[y=1]) }
//   C read y from B and skipped x. It has seen B, so of x it saw what B left or a later version;
//   not the initial state, and not A's x, which satisfies the condition.
//
// A query skips every row that does not satisfy its condition, and most versions of these rows do
// not satisfy it either. Any of them will do that is not older than what the reader has seen; the
// oldest one adds the least to what the reader has seen. Reads become choices only if there is no
// such version, or if an edge rests on their source.
//
// If sessions see what they wrote, that counts as seen. If all reads of a transaction count
// together, a source must not have overwritten what a known read of the same reader saw, and the
// reads are gone through again as long as a later one moves the source of an earlier one.
//
// Cost: the writes of the transactions that are read from, and the possible sources of the reads.

#include "levels/waiting_sources.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "base/sort_by.h"

namespace assay::internal {

namespace {

// Whether a session's later transactions have seen what it wrote.
bool sees_own_session(const LevelInfo& level) {
  return std::ranges::count(level.seen.words, std::string_view("s")) > 0;
}

}  // namespace

WaitingSources::WaitingSources(const Problem& problem, const LevelInfo& level,
                               const OpenReads& open, const SourceFacts& facts)
    : problem_(problem),
      level_(level),
      open_(open),
      facts_(facts),
      reads_(open.all().size()),
      first_(problem.history->txn_count() + 1),
      source_(open.all().size(), kNone),
      own_writer_(open.all().size(), kNone) {
  std::iota(reads_.begin(), reads_.end(), 0u);
  stable_sort_by(reads_,
                 [&](uint32_t read) { return pack(open.all()[read].reader, open.all()[read].op); });
  for (const OpenRead& read : open.all()) ++first_[read.reader + 1];
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  if (sees_own_session(level)) find_own_writers();
}

void WaitingSources::find_own_writers() {
  const History& h = *problem_.history;
  std::vector<std::unordered_map<KeyId, TxnId>> written(h.session_count());
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    std::unordered_map<KeyId, TxnId>& own = written[h.session(t)];
    for (const uint32_t read : reads_of(t))
      if (const auto last = own.find(open_.all()[read].key); last != own.end())
        own_writer_[read] = last->second;
    if (const Node n = problem_.node_of(t); n != kNone && !problem_.is_possible(n))
      for (const WriteId w : problem_.writes.of(n)) own[problem_.writes.key[w]] = t;
  }
}

std::vector<uint32_t> WaitingSources::find(std::span<const uint32_t> place, const Search& search) {
  std::vector<uint32_t> unexplained;
  const Choose choose = [&](uint32_t index) -> std::optional<TxnId> {
    const std::span<const Search::Source> made = search.sources_of(index);
    if (made.empty() && !facts_.is_possible(open_.all()[index].reader))
      return earliest(index, place);
    const auto taken = std::ranges::find_if(
        made, [&](const Search::Source& one) { return search.taken(one.side); });
    return taken == made.end() ? kNone : taken->txn;  // kNone if the reader does not take effect
  };
  for (TxnId reader = 0; reader + 1 < first_.size(); ++reader)
    if (!reads_of(reader).empty()) give_sources(reader, place, choose, unexplained);
  return unexplained;
}

std::optional<uint32_t> WaitingSources::unexplained_read(TxnId reader,
                                                         std::span<const uint32_t> place) {
  std::vector<uint32_t> unexplained;
  give_sources(
      reader, place, [&](uint32_t read) { return earliest(read, place); }, unexplained);
  return unexplained.empty() ? std::nullopt : std::optional(unexplained.front());
}

void WaitingSources::give_sources(TxnId reader, std::span<const uint32_t> place,
                                  const Choose& choose, std::vector<uint32_t>& unexplained) {
  constexpr int kPasses = 4;  // few move twice; the search does what is left then
  seen_.clear();
  known_.clear();
  const Node n = problem_.node_of(reader);
  auto known = n == kNone ? std::span<const ExternalRead>() : problem_.reads[n];
  if (!level_.seen.earlier_reads)
    for (const ExternalRead& read : known)
      known_[read.key] =
          read.write == kNone ? 0 : place[problem_.txn[problem_.writes.node[read.write]]] + 1;
  const size_t others = unexplained.size();
  bool changed = true;
  for (int pass = 0; pass < kPasses && std::exchange(changed, false); ++pass) {
    unexplained.resize(others);
    for (const uint32_t index : reads_of(reader)) {
      const OpenRead& read = open_.all()[index];
      for (; !known.empty() && (!level_.seen.earlier_reads || known.front().op <= read.op);
           known = known.subspan(1))
        if (const WriteId w = known.front().write; w != kNone)
          see(problem_.txn[problem_.writes.node[w]], place);
      const std::optional<TxnId> source =
          facts_.is_fact(read) ? std::optional(read.sources[0]) : choose(index);
      if (!source) unexplained.push_back(index);
      const TxnId before = std::exchange(source_[index], source.value_or(kNone));
      changed = changed || (!level_.seen.earlier_reads && (pass == 0 || before != source_[index]));
      see(source_[index], place);
    }
  }
}

// Whether the source overwrote what a known read of the same reader saw.
bool WaitingSources::contradicts(TxnId source, std::span<const uint32_t> place) const {
  const Node n = known_.empty() ? kNone : problem_.node_of(source);
  if (n == kNone) return false;
  for (const WriteId w : problem_.writes.of(n))
    if (const auto read = known_.find(problem_.writes.key[w]);
        read != known_.end() && read->second < place[source] + 1)
      return true;
  return false;
}

void WaitingSources::see(TxnId source, std::span<const uint32_t> place) {
  const Node n = source == kNone ? kNone : problem_.node_of(source);
  if (n == kNone) return;
  for (const WriteId w : problem_.writes.of(n)) {
    uint32_t& last = seen_[problem_.writes.key[w]];
    last = std::max(last, place[source]);
  }
}

std::optional<TxnId> WaitingSources::earliest(uint32_t index,
                                              std::span<const uint32_t> place) const {
  const OpenRead& read = open_.all()[index];
  const auto seen = seen_.find(read.key);
  const TxnId own = own_writer_[index];
  const bool any_seen = seen != seen_.end() || own != kNone;
  const uint32_t least =
      std::max(seen == seen_.end() ? 0 : seen->second, own == kNone ? 0 : place[own]);
  std::optional<TxnId> best;
  for (const TxnId t : read.sources) {
    if (t == kNone) {
      if (!any_seen) return kNone;
      continue;
    }
    if (facts_.is_possible(t) || place[t] >= place[read.reader]) continue;
    if (any_seen && place[t] < least) continue;
    if ((!best || place[t] < place[*best]) && !contradicts(t, place)) best = t;
  }
  return best;
}

}  // namespace assay::internal
