// A transaction's observations of others and its final writes, straight from its operations.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "assay/history.h"

namespace assay::internal {

// Each id once, ascending, without kNone.
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

// Every read of a version from outside, in program order, repeated reads of a key included. A
// compare-and-set that took effect reads its expected value.
std::vector<Access> reads_of(const History& h, TxnId t);
// The first of them of a key; op is kNone if there is none.
Access first_read(const History& h, TxnId t, KeyId key);
// The last write of a key; kNone if there is none.
OpId last_write(const History& h, TxnId t, KeyId key);
// Whether it writes a key plainly in the end: it neither deletes it nor appends to it.
bool overwrites(const History& h, TxnId t, KeyId key);
// Whether `t` wrote a version; kNone: whether it was there initially. A deletion writes a separate
// version, which no read returns.
bool wrote(const History& h, TxnId t, VersionId version);
// Per version the transaction that left it: one that did not abort. kNone: none did, as for the
// initial value; kSeveral: more than one may have. Reads the whole history.
inline constexpr TxnId kSeveral = kNone - 1;
std::vector<TxnId> sources_of_versions(const History& h);

// An operation and its place.
struct Place {
  const History& history;
  OpId op;
};

// The history that a story is about. If it is a part of another one, its lists may have lost
// elements; the story shows them as in the whole.
struct Excerpt {
  const History& history;
  const History* whole = nullptr;
  std::span<const OpId> origins = {};  // of each operation, which one it is in the whole

  Place in_file(OpId op) const { return whole ? Place{*whole, origins[op]} : Place{history, op}; }
};

bool is_list(const History& h, OpId op);

}  // namespace assay::internal
