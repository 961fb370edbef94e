// A footprint: the observations of a transaction and its final writes.
//
// Everything within a transaction is evaluated here: a read after an own write must return that
// write, and only the last write of a key leaves the transaction. What remains is, per key, the set
// of states the transaction can have started from and the change it installs. Example: { r(x,1)
// w(x,2) r(x,2) } observes x in state 1 and installs 2; { w(x,2) r(x,1) } contradicts itself.
//
// The states of a key are small numbers; 0 is the state before anything was written:
//   register   one state for each version that some transaction leaves behind. A removed key is a
//              state of its own that reads as null.
//   list       one state for each prefix of a list that was read, and one, kOff, for all other
//              lists.
// No database returns a state that no transaction leaves, so no state fits a read of an aborted,
// intermediate or invented value.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/history.h"

namespace assay::internal::oracle {

inline constexpr int kMaxTxns = 16;
inline constexpr int kMaxKeys = 15;
inline constexpr int kMaxStates = 64;

using State = uint8_t;
using States = uint64_t;  // a set of states, one bit each
inline constexpr State kOff = kMaxStates - 1;

inline constexpr States only(State s) { return States{1} << s; }

// The key was in one of these states.
struct Need {
  uint32_t key;
  States accept;
};

// A read that looks outside the transaction. `step` grows with program order; all keys of one range
// query have the same step.
struct Observation {
  uint32_t step;
  Need need;
};

// Maps each state of the key to the one that this transaction turns it into.
struct Install {
  uint32_t key;
  std::array<State, kMaxStates> next;
  std::vector<VersionId> elements;  // for a list: the appended elements, in order
};

struct Footprint {
  TxnId txn = kNone;
  bool certain = true;        // committed; otherwise of unknown outcome
  bool named = false;         // of unknown outcome, but a stated order of versions names it
  bool alone = false;         // treated as in no session, whatever the history says
  std::string contradiction;  // why the transaction disagrees with itself; empty if it does not
  std::vector<Observation> observations;  // in program order
  std::vector<Need> needs;                // one per key: what all its observations accept
  std::vector<Install> installs;          // one per key
  bool single_operation = false;          // one operation on one key

  bool takes_effect() const { return certain || named; }
  const Install* install(uint32_t key) const;
  const Need* need(uint32_t key) const;
};

// For a list that was read: the states of its prefixes, beginning with the empty list, and its
// elements.
struct KeyStates {
  KeyId outside = kNone;  // the key
  bool is_list = false;
  std::vector<VersionId> element;  // list: last element of the state, kNone for state 0
  std::vector<State> parent;       // list: the state before that element
  std::vector<States> extensions;  // list: the state itself and all that extend it
};

// The small history: transactions that may have taken effect, in file order.
struct Footprints {
  std::vector<Footprint> txns;
  std::vector<KeyStates> keys;  // dense numbers of the keys that are observed or installed
  // Pairs of transactions whose versions of some key are known to be installed in this order.
  std::vector<std::pair<int, int>> known_order;
  // Why the stated orders of versions cannot all be right; empty if they can. Contradictory orders
  // are omitted.
  std::string contradiction;
};

// Whose reads count. all: also those of transactions that did not commit; each of these with an
// observation has a footprint that installs nothing, in addition to its usual one if its outcome is
// unknown.
enum class ReadsOf : uint8_t { committed, all };

// Returns nullopt, with `why` set, if the history is beyond the limits or mixes lists and
// registers.
std::optional<Footprints> footprints(const History& history, ReadsOf reads, std::string* why);

}  // namespace assay::internal::oracle
