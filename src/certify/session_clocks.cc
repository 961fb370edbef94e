#include "certify/session_clocks.h"

#include <algorithm>

namespace assay::internal::certify {

SessionClocks::SessionClocks(const History& history, const CommitOrder& order)
    : order_(order),
      chain_(order.count() + 1, kNone),
      position_(order.count() + 1),
      uses_(order.count() + 1),
      previous_(order.count() + 1),
      slot_(order.count() + 1, kNone) {
  for (SessionId s = 0; s < history.session_count(); ++s) {
    Place last = 0;
    for (TxnId t : history.session_txns(s)) {
      const Place p = order.place(t);
      if (p == kNone) continue;
      previous_[p] = last;
      if (last != 0) ++uses_[last];
      if (history.status(t) != TxnStatus::committed) continue;
      if (last == 0) last_.push_back(0);
      chain_[p] = chain_count() - 1;
      position_[p] = ++last_.back();
      last = p;
    }
  }
  sessions_ = chain_count();
  for (Place p = 1; p <= order.count(); ++p)
    for (const ReadFrom& read : order.reads(p))
      if (read.from != 0) ++uses_[read.from];
}

Result<std::span<const uint32_t>> SessionClocks::advance(Place p) {
  now_.assign(chain_count(), 0);
  see(previous_[p]);
  for (const ReadFrom& read : order_.reads(p)) see(read.from);
  if (chain_[p] == kNone) put_on_shared_chain(p);
  if (uses_[p] > 0 && !keep(p))
    return Error{ErrorKind::budget, "too many sessions to verify causal consistency", {}, 0, 0};
  return std::span<const uint32_t>(now_);
}

void SessionClocks::see(Place seen) {
  if (seen == 0) return;
  // Who saw `seen` saw all that it saw.
  if (now_[chain_[seen]] < position_[seen]) {
    const std::vector<uint32_t>& clock = clocks_[slot_[seen]];
    for (size_t c = 0; c < clock.size(); ++c) now_[c] = std::max(now_[c], clock[c]);
  }
  release(seen);
}

void SessionClocks::release(Place p) {
  if (--uses_[p] == 0) free_.push_back(slot_[p]);
}

void SessionClocks::put_on_shared_chain(Place p) {
  uint32_t chain = sessions_;
  while (chain < chain_count() && now_[chain] != last_[chain]) ++chain;
  if (chain == chain_count()) {
    last_.push_back(0);
    now_.push_back(0);
  }
  chain_[p] = chain;
  position_[p] = ++last_[chain];
}

// Keeps the clock for those who will see `p`. False if there are too many.
bool SessionClocks::keep(Place p) {
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(clocks_.size()));
    clocks_.emplace_back();
  }
  slot_[p] = free_.back();
  free_.pop_back();
  std::vector<uint32_t>& kept = clocks_[slot_[p]];
  words_ -= kept.size();
  if (words_ + now_.size() > kMaxWords) return false;
  kept = now_;
  words_ += kept.size();
  kept[chain_[p]] = std::max(kept[chain_[p]], position_[p]);
  return true;
}

}  // namespace assay::internal::certify
