// A transaction's observations of others and its final writes, straight from its operations.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "assay/history.h"

namespace assay::internal {

// Sorts the ids, and removes repeated ones and kNone.
template <class Id>
void tidy(std::vector<Id>& ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  if (!ids.empty() && ids.back() == kNone) ids.pop_back();
}

struct Access {
  KeyId key = kNone;
  VersionId version = kNone;
  OpId op = kNone;
};

// Every read of a version from outside the transaction, in program order, including repeated reads
// of a key. A compare-and-set that took effect reads its expected value.
std::vector<Access> reads_of(const History& h, TxnId t);
// The first such read of a key; op is kNone if there is none.
Access first_read(const History& h, TxnId t, KeyId key);
// The last write of a key; kNone if there is none.
OpId last_write(const History& h, TxnId t, KeyId key);
// Whether the transaction's last change of the key is a plain write: neither a deletion nor an
// append.
bool overwrites(const History& h, TxnId t, KeyId key);
// Whether `t` wrote a version; kNone: whether it was there initially. A deletion writes a separate
// version, which no read returns.
bool wrote(const History& h, TxnId t, VersionId version);
// Per version the transaction that left it and did not abort. kNone: none did, as for the initial
// value; kSeveral: more than one may have. Reads the whole history.
inline constexpr TxnId kSeveral = kNone - 1;
std::vector<TxnId> sources_of_versions(const History& h);

// An operation and its place.
struct Place {
  const History& history;
  OpId op;
};

// The history that a story is about. If it is a part of another history, its lists may have lost
// elements; the story shows them as in the whole.
struct Excerpt {
  const History& history;
  const History* whole = nullptr;
  std::span<const OpId> origins = {};  // indexed by operation: which one it is in the whole

  Place in_file(OpId op) const { return whole ? Place{*whole, origins[op]} : Place{history, op}; }
};

bool is_list(const History& h, OpId op);

}  // namespace assay::internal
