#include "certify/seen_writers.h"

#include <algorithm>

#include "certify/refusal.h"

namespace assay::internal::certify {

SeenWriters::SeenWriters(const History& history, const CommitOrder& order)
    : history_(history),
      order_(order),
      previous_(order.count() + 1),
      writers_(history.key_count()),
      seen_(order.count() + 1) {
  for (SessionId s = 0; s < history.session_count(); ++s) {
    Place last = 0;
    for (const TxnId t : history.session_txns(s)) {
      const Place p = order.place(t);
      if (p == kNone) continue;
      previous_[p] = last;
      if (history.status(t) == TxnStatus::committed) last = p;
    }
  }
  for (Place p = 1; p <= order.count(); ++p)
    for (const KeyId k : order.keys_written(p)) writers_[k].push_back(p);
}

Status SeenWriters::check(Readers readers) {
  for (Place p = 1; p <= order_.count(); ++p) {
    if (!readers.has(p)) continue;
    for (const ReadFrom& read : order_.reads(p)) {
      const std::vector<Place>& writers = writers_[read.key];
      auto w = std::upper_bound(writers.begin(), writers.end(), read.from);
      for (; w != writers.end() && *w < p; ++w) {
        pairs_.push_back({*w, p, read.from, read.key});
        if (pairs_.size() < kPairs) continue;
        if (Status s = check_pairs(); !s.ok()) return s;
      }
    }
  }
  return check_pairs();
}

// Those listed so far.
Status SeenWriters::check_pairs() {
  std::sort(pairs_.begin(), pairs_.end(), [](const Pair& a, const Pair& b) {
    const Place in_a = a.writer / kBlock, in_b = b.writer / kBlock;
    return in_a != in_b ? in_a < in_b : a.reader < b.reader;
  });
  const Pair* const end = pairs_.data() + pairs_.size();
  for (const Pair *begin = pairs_.data(), *next = begin; begin != end; begin = next) {
    while (next != end && next->writer / kBlock == begin->writer / kBlock) ++next;
    if (Status s = pass(begin, next); !s.ok()) return s;
  }
  pairs_.clear();
  return Ok{};
}

// Pairs whose writers are of one block, by their readers.
Status SeenWriters::pass(const Pair* begin, const Pair* end) {
  const Place first = begin->writer / kBlock * kBlock;
  for (Place p = std::max<Place>(first, 1); begin != end; ++p) {
    seen_[p] = {};
    note_seen(p, first, previous_[p]);
    for (const ReadFrom& read : order_.reads(p)) note_seen(p, first, read.from);
    for (; begin != end && begin->reader == p; ++begin) {
      const Place column = begin->writer - first;
      if ((seen_[p][column / 64] >> column % 64 & 1) == 0) continue;
      return refuse(
          "transaction {} saw transaction {} and yet reads {} from {}, which is before that in the "
          "order",
          history_.name(order_.txn(p)), history_.name(order_.txn(begin->writer)),
          history_.key(begin->key).to_string(),
          begin->from == 0 ? "the initial state"
                           : "transaction " + history_.name(order_.txn(begin->from)));
    }
  }
  return Ok{};
}

// `p` saw `other`, and all that it saw.
void SeenWriters::note_seen(Place p, Place first, Place other) {
  if (other == 0 || other < first) return;
  for (size_t i = 0; i < seen_[p].size(); ++i) seen_[p][i] |= seen_[other][i];
  const Place column = other - first;
  if (column < kBlock) seen_[p][column / 64] |= uint64_t{1} << column % 64;
}

}  // namespace assay::internal::certify
