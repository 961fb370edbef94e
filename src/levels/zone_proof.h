// The proofs for zones.cc: contradictions of the chains of one key, as cycles. See zone_proof.cc.
#pragma once

#include <functional>
#include <vector>

#include "assay/certificate.h"

namespace assay::internal {

// An operation of a chain: the writer of a value, or one of its readers.
struct ZonePlace {
  uint32_t value = kNone;  // the local number of the value
  TxnId txn = kNone;
  bool reader = false;
};

// What matters about a chain in relation to another: where it starts, and the operations with the
// least end and the greatest begin.
struct ZoneBlock {
  uint32_t head = kNone;
  ZonePlace first_end, last_begin;
};

class ZoneProof {
 public:
  // Values have local numbers; `source` and `next` lead along a chain, and are kNone at its ends.
  // `txn` is kNone for the initial value.
  ZoneProof(KeyId key, uint32_t initial, const std::vector<uint32_t>& source,
            const std::vector<uint32_t>& next, std::function<TxnId(uint32_t)> txn)
      : key_(key), initial_(initial), source_(source), next_(next), txn_(std::move(txn)) {}

  // A proof for two compare-and-sets that took the same value.
  Proof both_took(const ZonePlace& value, TxnId first, TxnId second) const;
  // A proof for `late`, which comes after `early` in its chain, yet ended before `early` began.
  Proof backwards(const ZonePlace& early, const ZonePlace& late) const;
  // A proof for compare-and-sets that form a ring: each takes the value that the one before left.
  Proof ring(uint32_t value) const;
  // A proof for two chains each of which has an operation that ended before one of the other began.
  // Only the first may be that of the initial value.
  Proof overlap(const ZoneBlock& a, const ZoneBlock& b) const;

 private:
  Edge edge(EdgeKind kind, TxnId from, TxnId to) const;
  Edge anti(TxnId reader, uint32_t value, TxnId to) const;
  void read_along(uint32_t from, const ZonePlace& to, std::vector<Edge>& cycle) const;
  bool refute_before(const ZoneBlock& a, const ZoneBlock& b, Proof& proof) const;

  const KeyId key_;
  const uint32_t initial_;
  const std::vector<uint32_t>& source_;
  const std::vector<uint32_t>& next_;
  std::function<TxnId(uint32_t)> txn_;
};

}  // namespace assay::internal
