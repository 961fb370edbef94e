// What each operation saw, and the certain writer of that state: the verifier's own matching of
// reads to writers, straight from the operations.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "assay/history.h"
#include "certify/lookups.h"
#include "certify/operations.h"

namespace assay::internal::certify {

// One version that an operation saw. A range query sees one per row, returned or skipped, a list
// read its last element (or null), a successful compare-and-set the value it expected, a successful
// insert nothing.
struct Observation {
  OpId op = kNone;
  KeyId key = kNone;
  VersionId version = kNone;  // kNone: the key was absent, as if null had been read
  OpId own_write = kNone;     // the transaction's own last write of the key before `op`
  bool initial = false;       // the state before all writes looks like this
  TxnId stated = kNone;       // external: the transaction stated to have written it, or kInitialTxn
  bool left = false;          // `stated` left this version, if it took effect, and did not abort

  bool external() const { return own_write == kNone; }
};

// Whether some transaction other than `reader` may count and left the state that was seen.
bool may_be_left(const Writes& writes, const Observation& seen, TxnId reader);
// The transaction that `seen` certainly comes from: the version is not an initial value, and only
// one transaction can have left it. kNone otherwise, and for reads of the transaction's own writes.
TxnId source(const Writes& writes, const Observation& seen, TxnId reader);
// Whether `seen` is certainly the initial value.
bool certainly_initial(const Writes& writes, const Observation& seen, TxnId reader);

// The observations of each transaction, indexed when they are first asked for.
class ExternalReads {
 public:
  explicit ExternalReads(const History& history) : history_(history) {}

  // The transaction's observations of `key` before its own writes of the key, in program order.
  std::span<const Observation> of(TxnId t, KeyId key);

 private:
  const History& history_;
  std::unordered_map<TxnId, std::vector<Observation>> by_key_;  // for equal keys in program order
};

// Every observation of the transaction, in program order.
std::vector<Observation> observations(const History& history, TxnId t);

// Which transactions certainly took effect: the committed ones, and those of unknown outcome that a
// stated order of versions names or, with clean reads, that are the only possible source of
// something a counting transaction saw.
class Counting {
 public:
  explicit Counting(const Lookups& lookups, ReadRule rule = ReadRule::clean)
      : lookups_(lookups), rule_(rule) {}

  bool counts(TxnId t);

 private:
  void close();
  void keep(TxnId t);

  const Lookups& lookups_;
  const ReadRule rule_;
  std::vector<bool> kept_;  // empty until an unknown transaction is asked about
  std::vector<TxnId> work_;
};

}  // namespace assay::internal::certify
