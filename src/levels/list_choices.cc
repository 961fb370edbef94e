// Which transactions appended which elements of a list, if the same element was appended more than
// once.
//
//   A { a(l,1) }   B { a(l,1) }   C { a(l,2) }   R: r(l,[1,2])
//   choices: A begins at 0, or later than R; so does B; C begins at 1, or later; 0 is impossible
//
// Added at once: every element belongs to a block, every block is somewhere, none is cut by a
// shorter list, and a transaction whose block is in the list took effect. The rest is about pairs
// and is added when the order is wrong without it: that blocks do not overlap, and that the earlier
// one of two was written before the later one. The edges follow from the order of writers and from
// the sources of the reads, as for registers: the reader read from the transaction whose block ends
// where its list ends. The clauses and why they hold: certify/blocks.h.
//
// Cost: for every transaction that appended to the key, one choice for each place where its
// elements fit.

#include "levels/list_choices.h"

#include <algorithm>
#include <utility>

namespace assay::internal {
namespace {

uint32_t size(const OpenList& list) { return static_cast<uint32_t>(list.elements.size()); }

ProofStep blocks_step(OpId read) {
  ProofStep step;
  step.kind = ProofStep::Kind::blocks;
  step.source = read;
  return step;
}

}  // namespace

// A guess of where each block begins: going from the front, the first block that fits.
std::vector<uint32_t> ListChoices::guess(uint32_t index, Search::Places places,
                                         const Search& search) const {
  const auto place_of = [&](TxnId t) { return places[search.write_event(t)]; };
  const OpenList& list = lists_.all()[index];
  std::vector<std::vector<uint32_t>> beginning(list.elements.size());  // indexed by place: the
                                                                       // blocks that may begin
                                                                       // there
  for (uint32_t b = 0; b < list.blocks.size(); ++b)
    for (const uint32_t at : list.blocks[b].places) beginning[at].push_back(b);
  std::vector<uint32_t> guessed(list.blocks.size(), size(list));
  for (uint32_t at = 0; at < size(list);) {
    uint32_t first = kNone;
    for (const uint32_t b : beginning[at]) {
      if (guessed[b] != size(list)) continue;
      if (first == kNone || place_of(list.blocks[b].txn) < place_of(list.blocks[first].txn))
        first = b;
    }
    if (first == kNone) break;
    guessed[first] = at;
    at += static_cast<uint32_t>(list.blocks[first].elements.size());
  }
  return guessed;
}

void ListChoices::make(uint32_t index, Search::Places places, Search& search) {
  const OpenList& list = lists_.all()[index];
  const std::vector<uint32_t> guessed = guess(index, places, search);
  std::vector<std::vector<Side>>& sides = sides_[index];
  sides.resize(std::max<size_t>(list.blocks.size(), 1));  // without blocks, too, it counts as made
  const bool possible_reader = search.is_possible(list.reader);
  const ProofStep step = blocks_step(list.op);
  const auto unless_reader = [&](std::vector<Side>& clause) {
    if (possible_reader) clause.push_back(search.effect_of(list.reader) ^ 1);
  };
  if (list.lacks_own) {
    std::vector<Side> clause;
    unless_reader(clause);
    search.add_clause(clause, step);
    return;
  }
  // Shorter lists, each with the number of elements after which it ends.
  std::vector<std::pair<uint32_t, const OpenList::Read*>> ends;
  for (const OpenList::Read& read : list.reads) ends.emplace_back(read.length, &read);
  std::sort(ends.begin(), ends.end());
  std::vector<std::vector<Side>> cover(list.elements.size());
  for (uint32_t b = 0; b < list.blocks.size(); ++b) {
    const OpenList::Block& block = list.blocks[b];
    std::vector<uint32_t> begins = block.places;
    begins.push_back(size(list));
    for (const uint32_t at : begins) {
      const Side side = search.add_block(
          Literal::block(list.reader, list.key, list.op, block.txn, at), guessed[b] == at);
      sides[b].push_back(side);
      if (at == size(list)) continue;
      const auto end = at + static_cast<uint32_t>(block.elements.size());
      for (uint32_t e = at; e < end; ++e) cover[e].push_back(side);
      const auto later = [](uint32_t length, const auto& read) { return length < read.first; };
      const auto forbid = [&](const OpenList::Read& read) {
        std::vector<Side> clause{side ^ 1};
        if (search.is_possible(read.reader)) clause.push_back(search.effect_of(read.reader) ^ 1);
        search.add_clause(clause, blocks_step(read.op));
      };
      for (auto read = std::upper_bound(ends.begin(), ends.end(), at, later);
           read != ends.end() && read->first < end; ++read)
        forbid(*read->second);
      for (const OpenLists::Place own : lists_.reads_of(block.txn))
        if (own.list == index && list.reads[own.read].length >= end) forbid(list.reads[own.read]);
    }
    std::vector<Side> somewhere = sides[b];
    if (search.is_possible(block.txn)) {
      const Side effect = search.effect_of(block.txn);
      somewhere.push_back(effect ^ 1);
      for (const Side side : sides[b]) {
        const Side clause[] = {side ^ 1, effect};
        search.add_clause(clause, step);
      }
    }
    if (block.txn != list.reader) unless_reader(somewhere);
    search.add_clause(somewhere, step);
  }
  for (uint32_t e = 0; e < size(list); ++e) {
    ProofStep covered = step;
    covered.element = e;
    unless_reader(cover[e]);
    search.add_clause(cover[e], std::move(covered));
  }
}

std::vector<ListChoices::Placed> ListChoices::placed(uint32_t index, const Search& search) const {
  const OpenList& list = lists_.all()[index];
  std::vector<Placed> found;
  for (uint32_t b = 0; b < list.blocks.size(); ++b) {
    const OpenList::Block& block = list.blocks[b];
    for (size_t i = 0; i < sides_[index][b].size(); ++i) {
      const Side side = sides_[index][b][i];
      if (!search.taken(side)) continue;
      const uint32_t at = i < block.places.size() ? block.places[i] : size(list);
      found.push_back({b, block.txn, at, at + static_cast<uint32_t>(block.elements.size()), side});
    }
  }
  std::sort(found.begin(), found.end(), [](const Placed& a, const Placed& b) {
    return std::tie(a.at, a.block) < std::tie(b.at, b.block);
  });
  return found;
}

ProofStep ListChoices::ordered(const OpenList& list, const Placed& before, const Placed& after) {
  ProofStep step = blocks_step(list.op);
  step.clause = {!Literal::block(list.reader, list.key, list.op, before.txn, before.at),
                 !Literal::block(list.reader, list.key, list.op, after.txn, after.at),
                 Literal::order(before.txn, after.txn)};
  return step;
}

void ListChoices::add_pair(uint32_t index, const Placed& a, const Placed& b, bool ordered,
                           Search& search) {
  if (!pairs_.insert({a.side, b.side, ordered}).second) return;
  std::vector<Side> clause{a.side ^ 1, b.side ^ 1};
  if (ordered) clause.push_back(search.order_of(a.txn, b.txn));
  search.add_clause(clause, blocks_step(lists_.all()[index].op));
}

bool ListChoices::add_overlaps(uint32_t index, std::span<const Placed> placed, Search& search) {
  const uint32_t n = size(lists_.all()[index]);
  bool any = false;
  std::vector<const Placed*> of_block(lists_.all()[index].blocks.size());
  const Placed* reaches = nullptr;  // the block that reaches furthest so far
  for (const Placed& p : placed) {
    if (const Placed*& other = of_block[p.block]; other != nullptr) {
      add_pair(index, *other, p, false, search);
      any = true;
    } else {
      other = &p;
    }
    if (p.at == n) continue;
    if (reaches != nullptr && p.at < reaches->end) {
      if (reaches->block != p.block) add_pair(index, *reaches, p, false, search);
      any = true;
    }
    if (reaches == nullptr || p.end > reaches->end) reaches = &p;
  }
  return any;
}

bool ListChoices::add_orders(uint32_t index, std::span<const Placed> placed, Search::Places places,
                             Search& search) {
  const auto precedes = [&](TxnId a, TxnId b) {
    return places[search.write_event(a)] < places[search.write_event(b)];
  };
  const uint32_t n = size(lists_.all()[index]);
  bool any = false;
  const Placed* last = nullptr;
  for (const Placed& p : placed) {
    if (last != nullptr && !precedes(last->txn, p.txn)) {
      add_pair(index, *last, p, true, search);
      any = true;
    }
    if (p.at < n) last = &p;
  }
  return any;
}

const ListChoices::Placed* ListChoices::last_seen(std::span<const Placed> placed, uint32_t length) {
  for (const Placed& p : placed)
    if (p.at < length && p.end == length) return &p;
  return nullptr;
}

Side ListChoices::side_of(OpenLists::Place read, TxnId source) const {
  const OpenList& list = lists_.all()[read.list];
  const uint32_t length = list.reads[read.read].length;
  const auto block = std::lower_bound(list.blocks.begin(), list.blocks.end(), source,
                                      [](const OpenList::Block& b, TxnId t) { return b.txn < t; });
  if (!made(read.list) || block == list.blocks.end() || block->txn != source) return kKnownSide;
  if (block->elements.size() > length) return kKnownSide;
  const uint32_t at = length - static_cast<uint32_t>(block->elements.size());
  const auto place = std::lower_bound(block->places.begin(), block->places.end(), at);
  if (place == block->places.end() || *place != at) return kKnownSide;
  return sides_[read.list][static_cast<size_t>(block - list.blocks.begin())]
               [static_cast<size_t>(place - block->places.begin())];
}

}  // namespace assay::internal
