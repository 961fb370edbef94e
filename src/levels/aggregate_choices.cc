// An aggregate is a function of what its keys held. If an order gives a different value, it is
// wrong about at least one key.
//
//   s1: A { w(x,1) }   s2: B { w(y,2) }   s3: C { sum(*) = 2 }
//
//   order A B C: the sum is 3      choices: C saw A's x, or none; B's y, or none
//   C saw both                     clause: C saw no x, or no y     it adds up to too much, and only
//                                                                  these would lessen it
//
// The first time that an order is wrong about an aggregate, the source of each of its keys becomes
// a choice. At first the search chooses, of the states along the order for which the aggregate is
// right, the nearest to the aggregate's place. Then
//
//   * a key for which the order and the search differ gets an anti-dependency, like any read whose
//     source is open (choices.cc)
//   * where they agree on every key, a clause says which key must differ: if a sum or a count is
//     too small, some key contributes more; if it is too great, some key contributes less; if a
//     maximum is wrong, some key has the value, or the one that exceeds it does not
//
// The clause excludes more than this one assignment: as long as no key contributes more, no other
// assignment makes the sum greater. The verifier (certify/aggregates.cc) evaluates the aggregate
// for all sources that the clause leaves out.
//
// Cost: for each aggregate that was wrong its keys times their possible sources, once; in each
// round its keys.

#include "levels/aggregate_choices.h"

#include <algorithm>
#include <utility>

namespace assay::internal {

void AggregateChoices::add(const std::function<bool(uint32_t read)>& needs_choice,
                           const TakenSources& taken, Search& search) const {
  std::vector<uint32_t> fresh;
  for (const uint32_t read : aggregate_.reads)
    if (read != kNone && needs_choice(read) && search.sources_of(read).empty())
      fresh.push_back(read);
  if (!fresh.empty()) {
    const uint32_t place = nearest_right_place(search);
    for (const uint32_t read : fresh)
      if (search.sources_of(read).empty()) search.add_sources(read, places_, place);
    return;
  }
  if (!add_rules(taken, search)) add_clause(search);
}

std::vector<AggregateTerm> AggregateChoices::terms_met() const {
  std::vector<AggregateTerm> terms;
  for (size_t k = 0; k < met_.size(); ++k) terms.push_back(term(k, met_[k]));
  return terms;
}

// The place in the order, before or after the reader's, at which the aggregate would be right, if
// one is near; otherwise the reader's own.
uint32_t AggregateChoices::nearest_right_place(const Search& search) const {
  constexpr size_t kMostTerms = 1 << 22;  // the most terms that are added up
  struct Change {
    uint32_t place;
    size_t k;
    AggregateTerm before, after;
  };
  std::vector<Change> earlier, later;
  const uint32_t here = places_[search.read_event(aggregate_.terms.reader())];
  for (size_t k = 0; k < aggregate_.reads.size(); ++k) {
    if (aggregate_.reads[k] == kNone) continue;
    const OpenRead& read = open_.all()[aggregate_.reads[k]];
    std::vector<std::pair<uint32_t, TxnId>> writes;
    for (const TxnId t : read.sources)
      if (t != kNone) writes.emplace_back(places_[search.write_event(t)], t);
    std::sort(writes.begin(), writes.end());
    AggregateTerm before = term(k, kNone);
    for (const auto& [place, t] : writes) {
      const AggregateTerm after = term(k, t);
      (place < here ? earlier : later).push_back({place, k, before, after});
      before = after;
    }
  }
  const auto by_place = [](const Change& a, const Change& b) { return a.place < b.place; };
  std::sort(later.begin(), later.end(), by_place);
  std::sort(earlier.begin(), earlier.end(),
            [&](const auto& a, const auto& b) { return by_place(b, a); });
  std::vector<AggregateTerm> ahead = terms_met(), back = ahead;
  size_t looked = 0;
  for (size_t i = 0; i < std::max(earlier.size(), later.size()) && looked < kMostTerms; ++i) {
    looked += 2 * ahead.size();
    if (i < earlier.size()) {
      back[earlier[i].k] = earlier[i].before;
      if (aggregate_.terms.given(back) == Match::yes) return std::max(earlier[i].place, 1u) - 1;
    }
    if (i < later.size()) {
      ahead[later[i].k] = later[i].after;
      if (aggregate_.terms.given(ahead) == Match::yes) return later[i].place;
    }
  }
  return here;
}

// If the search has chosen another source than the order, the reader precedes the transaction that
// overwrote it. False if they agree on what each key adds.
bool AggregateChoices::add_rules(const TakenSources& taken, Search& search) const {
  bool any = false;
  for (size_t k = 0; k < aggregate_.reads.size(); ++k) {
    if (aggregate_.reads[k] == kNone || met_[k] == kNone) continue;
    const OpenRead& read = open_.all()[aggregate_.reads[k]];
    for (const auto& [side, source] : taken(aggregate_.reads[k])) {
      if (source == met_[k] || term(k, source) == term(k, met_[k])) continue;
      std::vector<Side> sides = {side};
      if (source != kNone) sides.push_back(search.order_of(source, met_[k]));
      search.add_edge(Edge::anti_dependency(read.reader, met_[k], read.key, source, read.op),
                      std::move(sides));
      any = true;
    }
  }
  return any;
}

void AggregateChoices::add_clause(Search& search) const {
  const std::vector<AggregateTerm> terms = terms_met();
  std::vector<Side> sides;
  for (size_t k = 0; k < aggregate_.reads.size(); ++k) {
    if (aggregate_.reads[k] == kNone) continue;
    for (const auto& [side, source] : search.sources_of(aggregate_.reads[k]))
      if (aggregate_.terms.may_mend(terms, terms[k], term(k, source))) sides.push_back(side);
  }
  const TxnId reader = aggregate_.terms.reader();
  if (search.is_possible(reader)) sides.push_back(search.effect_of(reader) ^ 1);
  ProofStep step;
  step.kind = ProofStep::Kind::aggregate;
  step.source = aggregate_.terms.op();
  search.add_clause(sides, std::move(step));
}

}  // namespace assay::internal
