#include "certify/session_clocks.h"

#include <algorithm>

namespace assay::certify {

SessionClocks::SessionClocks(const History& history, const CommitOrder& order)
    : order_(order),
      chain_(order.count() + 1),
      position_(order.count() + 1),
      uses_(order.count() + 1),
      previous_(order.count() + 1),
      slot_(order.count() + 1, kNone) {
  for (SessionId s = 0; s < history.session_count(); ++s) {
    Place last = 0;
    uint32_t session_chain = kNone;
    for (TxnId t : history.session_txns(s)) {
      const Place p = order.place(t);
      if (p == kNone) continue;
      previous_[p] = last;
      if (last != 0) ++uses_[last];
      const bool certain = history.status(t) == TxnStatus::committed;
      if (!certain || session_chain == kNone) {
        chain_[p] = chain_count_++;
        if (certain) session_chain = chain_[p];
      } else {
        chain_[p] = session_chain;
      }
      position_[p] = certain && last != 0 ? position_[last] + 1 : 1;
      if (certain) last = p;
    }
  }
  for (Place p = 1; p <= order.count(); ++p)
    for (const ReadFrom& read : order.reads(p))
      if (read.from != 0) ++uses_[read.from];
  now_.resize(chain_count_);
}

Result<std::span<const uint32_t>> SessionClocks::advance(Place p) {
  std::fill(now_.begin(), now_.end(), 0);
  Place joined = 0;
  auto see = [&](Place seen) {
    if (seen == 0) return;
    if (seen != joined) {
      const std::vector<uint32_t>& clock = clocks_[slot_[seen]];
      for (uint32_t c = 0; c < chain_count_; ++c) now_[c] = std::max(now_[c], clock[c]);
      joined = seen;
    }
    release(seen);
  };
  see(previous_[p]);
  for (const ReadFrom& read : order_.reads(p)) see(read.from);
  if (uses_[p] > 0) {
    if (free_.empty()) {
      if ((clocks_.size() + 1) * chain_count_ > kMaxWords)
        return Error{ErrorKind::budget, "too many sessions to verify causal consistency", {}, 0, 0};
      free_.push_back(static_cast<uint32_t>(clocks_.size()));
      clocks_.emplace_back();
    }
    slot_[p] = free_.back();
    free_.pop_back();
    std::vector<uint32_t>& kept = clocks_[slot_[p]];
    kept = now_;
    kept[chain_[p]] = std::max(kept[chain_[p]], position_[p]);
  }
  return std::span<const uint32_t>(now_);
}

void SessionClocks::release(Place p) {
  if (--uses_[p] == 0) free_.push_back(slot_[p]);
}

}  // namespace assay::certify
