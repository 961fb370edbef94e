// The transactions that may be moved in a segment of a chain.
//
//   order so far: s1: { w(x,1) }  s2: { w(x,2) }      both at the same time, x is not read
//   next:         s3: { r(x,1) }
//
// A later segment may show that s2 was before s1, long after that order was verified. So a segment
// says which transactions may move: s1 is a rival of s2, and may come after it. That is verified at
// once. A transaction that is moved must not share a key with those it passes, except for blind
// writes of the one key; it must not have ended before one of them began, nor be of the same
// session; and it must not be moved after one that may itself be moved. Then the others keep their
// order, each transaction that conflicts with a moved one comes after its new place, and any choice
// of one rival for each key gives an order, too.
//
// Cost: for each rival the transactions it passes.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "assay/result.h"
#include "certify/chain.h"
#include "certify/chain_contents.h"

namespace assay::internal::certify {

// When the transaction ended; one of unknown outcome has no end.
int64_t end_of(const History& h, TxnId t);

// The order of the current segment.
struct ChainSegment {
  using Txn = ChainContents::Txn;
  struct Placed {
    uint64_t line = 0;
    Txn txn;
    std::vector<OpId> excused = {};  // reads of transactions that were left out
  };
  // A transaction of unknown outcome; it comes after this many of `placed`.
  struct Late {
    Txn txn;
    size_t place;
  };
  std::vector<Placed> placed = {};
  std::vector<Late> lates = {};
};

class ChainRivals {
 public:
  ChainRivals(ChainContents& contents, const ChainSegment& segment, bool keeps_real_time);

  // Verifies that `writer` may come after `last`, and notes the other version that their key may
  // hold.
  Status add(const Segment::Rival& r);

 private:
  using Content = ChainContents::Content;
  using Txn = ChainContents::Txn;
  struct Touch {
    const Content* key;  // what the key holds
    KeyId in_piece;      // the key in the history of its transaction
    bool looked = false, wrote = false;
    bool is_blind() const { return wrote && !looked; }
  };

  void add_place(const ChainSegment::Placed& placed);
  std::span<const Touch> touched_by(uint32_t place) const {
    return {touched_.data() + starts_[place], starts_[place + 1] - starts_[place]};
  }
  const Content* key_of(const Txn& t, KeyId key);
  Touch& touch(size_t first, const Content* key, KeyId in_piece);
  bool disturbs_late(uint32_t from, uint32_t behind, const Content* key);
  bool touches(uint32_t place, const Txn& t);
  bool looks_at(const Txn& t, const Content* key);
  const Touch* shared_write(uint32_t a, uint32_t b) const;
  bool must_follow(const Txn& later, const Txn& earlier) const;
  bool meet(uint32_t a, uint32_t b, const Content* key) const;

  ChainContents& contents_;
  const ChainSegment& segment_;
  const bool keeps_real_time_;
  std::unordered_map<uint64_t, uint32_t> places_;  // by line
  HeldMap<Content> unwritten_;
  std::vector<Touch> touched_;  // in the segment's order
  std::vector<size_t> starts_;  // indexed by place
  std::vector<bool> moves_, stays_;
};

// Calls `visit` for each observation of the transaction of what others left.
template <class Visit>
void each_outside_look(const History& h, TxnId t, Visit visit) {
  std::vector<KeyId> own;
  for (const Access& a : accesses(h, t)) {
    if (a.reads() && std::ranges::count(own, a.key) == 0) visit(a);
    if (a.writes()) own.push_back(a.key);
  }
}

}  // namespace assay::internal::certify
