// Replays an order of events over a history: what each key holds when a transaction reads, and
// which transaction left that.
//
//   order A B C      A { w(x,1) }   B { r(x,1) w(x,2) }   C { r(x,1) }
//
//   read by   x holds   left by
//   A         null      -
//   B         1         A
//   C         2         B          the order does not explain what C read
//
// A visitor is called for every read with the state it meets, the transaction's own writes
// included, and for every install. It says whether to go on. These are visitors: accepting an
// order, finding the faults of a database's order, finding the sources of open reads along an
// order, aggregates, and skipped rows.
//
// Cost: one pass over the operations, and over the keys that ranges cover.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "assay/certificate.h"
#include "assay/history.h"
#include "base/invariants.h"
#include "history/accesses.h"
#include "infer/touched_keys.h"

namespace assay::internal {

struct Held {
  KeyState state;
  TxnId writer = kNone;  // kNone: the initial state
};

// What the keys hold at one moment.
class KeysHeld {
 public:
  explicit KeysHeld(const History& history) : h_(history), held_(history.key_count()) {
    for (KeyId k = 0; k < h_.key_count() && h_.has_own_initial(); ++k)
      held_[k].state = initial_state(h_, k);
  }

  const Held& operator[](KeyId key) const { return held_[key]; }
  // The elements of a key to which transactions append.
  std::span<const VersionId> list(KeyId key) const {
    const auto found = lists_.find(key);
    return found == lists_.end() ? std::span<const VersionId>() : found->second;
  }

  // That a key which some transaction has written holds what that transaction left, and that a list
  // ends with what its last appender added.
  void check_invariants(TxnId last_installed) const {
    for (OpId i = h_.first_op(last_installed); i < h_.end_op(last_installed); ++i) {
      if (!installs_version(h_.op(i))) continue;
      const Install install = install_of(h_, i);
      check_invariant(held_[install.key].writer == last_installed,
                      "a key holds what was installed last");
      check_invariant(!install.appends || !list(install.key).empty(),
                      "a key to which a transaction appended has elements");
    }
  }

  void install(TxnId t) {
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
      if (!installs_version(h_.op(i))) continue;
      const Install install = install_of(h_, i);
      held_[install.key] = {install.state(), t};
      if (install.appends) lists_[install.key].push_back(install.version);
    }
    if constexpr (kInvariantsChecked) check_invariants(t);
  }

 private:
  const History& h_;
  std::vector<Held> held_;
  std::unordered_map<KeyId, std::vector<VersionId>> lists_;
};

// A visitor defines the functions that it needs; the others do nothing.
struct ReplayVisitor {
  // Called when a transaction reads; what keys hold does not include its own writes yet.
  bool reads(TxnId, const KeysHeld&) { return true; }
  // Called before the transaction's writes are installed, and after.
  bool installs(TxnId, const KeysHeld&) { return true; }
  bool installed(TxnId, const KeysHeld&) { return true; }
};

// Calls look(Observation, Held) for each observation of a transaction's operations, with the state
// it meets, and look_at_list(op, others, own) for each list that it reads: the appends of other
// transactions, and its own elements so far. Each says whether to go on; the result is false if one
// said no. `keys` may be null if there are no ranges.
template <class Look, class LookAtList>
bool each_read(const History& h, TxnId t, const KeysHeld& held, const TouchedKeys* keys, Look look,
               LookAtList look_at_list) {
  std::unordered_map<KeyId, Held> own;
  std::unordered_map<KeyId, std::vector<VersionId>> appended;
  const auto meets = [&](KeyId key) {
    const auto written = own.find(key);
    return written == own.end() ? held[key] : written->second;
  };
  for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
    const Observation seen = observation_of(h, i);
    if (seen.accepts == Accepts::rows) {
      for (const Observation& row : keys->seen_by(i))
        if (!look(row, meets(row.key))) return false;
    } else if (seen.accepts == Accepts::list) {
      if (!look_at_list(i, held.list(seen.key), std::span<const VersionId>(appended[seen.key])))
        return false;
    } else if (seen.accepts != Accepts::any && !look(seen, meets(seen.key))) {
      return false;
    }
    if (!installs_version(h.op(i))) continue;
    const Install install = install_of(h, i);
    own[install.key] = {install.state(), t};
    if (install.appends) appended[install.key].push_back(install.version);
  }
  return true;
}

// Whether no event is repeated; of a transaction with two, the reads come first.
inline bool has_each_event_once(const Order& order) {
  std::unordered_set<uint32_t> seen;
  for (const uint32_t event : order.events)
    if (!seen.insert(event).second || (order.split && event % 2 == 1 && !seen.contains(event - 1)))
      return false;
  return true;
}

template <class Visitor>
void replay(const History& h, const Order& order, Visitor& visitor) {
  KeysHeld held(h);
  if constexpr (kInvariantsChecked)
    check_invariant(has_each_event_once(order), "an order has each event once");
  for (const uint32_t event : order.events) {
    const TxnId t = order.split ? event / 2 : event;
    if ((!order.split || event % 2 == 0) && !visitor.reads(t, held)) return;
    if (order.split && event % 2 == 0) continue;
    if (!visitor.installs(t, held)) return;
    held.install(t);
    if (!visitor.installed(t, held)) return;
  }
}

}  // namespace assay::internal
