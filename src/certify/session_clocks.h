// Who saw whom, along a commit order. A transaction's clock says, per session, up to which of its
// transactions the transaction saw, directly or through others.
//
//   s1: A { w(x,1) }   B { w(y,1) }        clock(C) = { s1: 1, s2: 0 }: C saw A, not B
//   s2:                C { r(x,1) }
//
// Sessions are chains, so one number per session says it all. A transaction of unknown outcome is on no such chain,
// since its session went on without it: it goes on a chain of its like whose last member it saw, or begins one.
// A clock is dropped after its last use.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assay/history.h"
#include "assay/result.h"
#include "certify/commit_order.h"

namespace assay::internal::certify {

class SessionClocks {
 public:
  SessionClocks(const History& history, const CommitOrder& order);

  // So far; the sessions are in from the beginning.
  uint32_t chain_count() const { return static_cast<uint32_t>(last_.size()); }
  // Once advance has come to `p`.
  uint32_t chain(Place p) const { return chain_[p]; }
  // Its number in its chain, from 1.
  uint32_t position(Place p) const { return position_[p]; }
  // The last transaction of its session before `p` that certainly committed; 0 if there is none.
  Place previous(Place p) const { return previous_[p]; }

  // Computes the clock of `p`, without `p` itself: per chain how many of its members it saw. Call for 1, 2, … in
  // order; the span is valid until the next call. Fails when too many clocks would be held at once.
  Result<std::span<const uint32_t>> advance(Place p);

 private:
  static constexpr uint64_t kMaxWords = uint64_t{1} << 29;  // 2 GiB of clocks

  void see(Place seen);
  void release(Place p);
  void put_on_shared_chain(Place p);
  bool keep(Place p);

  const CommitOrder& order_;
  std::vector<uint32_t> chain_, position_, uses_;  // per place; chain kNone: not yet on one
  std::vector<Place> previous_;
  std::vector<uint32_t> last_;  // per chain: the position of its last member so far
  uint32_t sessions_ = 0;       // chains that are sessions; they come first
  std::vector<std::vector<uint32_t>>
      clocks_;  // of places still in use; chains they do not know of: 0
  std::vector<uint32_t> slot_, free_;
  uint64_t words_ = 0;  // in clocks_
  std::vector<uint32_t> now_;
};

}  // namespace assay::internal::certify
