// The history that represents a stretch of an endless history, to be decided by the engine of
// `assay check`.
//
//   before:  { w(x,1) }            live state: x = 1
//   window:  { r(x,1) w(x,2) }  { r(x,2) }
//
// To accept, the window is checked after one transaction that writes the live state of the keys it
// touches: an order of it continues the order of what came before. That transaction is a stub: it
// assumes that the order before was the right one. So a window that is rejected says nothing by
// itself, and no alarm rests on it: a violation is decided on the transactions alone, without the
// stub and without whatever others may explain (project()).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "assay/check.h"
#include "assay/history.h"
#include "assay/result.h"
#include "watch/late_writers.h"
#include "watch/left_out_writes.h"
#include "watch/live_state.h"
#include "watch/member.h"

namespace assay::internal::watch {

class LateEffects;

// The known facts about writers that are not among the members.
struct Past {
  const LiveState& state;
  // Other transactions may have written any key: some were dropped, and the state of a key without
  // an entry is not known.
  bool gap = false;
  // Whether writers that are in no state were forgotten.
  bool lost_writers = false;
  // Everything that was forgotten ended by then, except late writers.
  int64_t forgotten_end = Interval::kUnknown;
  const LateWriters& late_writers;
  const LeftOutWrites& left_out_writes;
  const LateEffects& late_effects;
};

struct Window {
  // A rival that a member read, or the version whose rival it is, as a transaction before the
  // window.
  struct Rival {
    TxnId txn;
    LiveState::Version version;
  };

  // A value that no member left, read by a member that has to be in the order: no order explains
  // that. It proves nothing either, as long as a transaction of unknown outcome or a forgotten one
  // may have left it.
  struct UnexplainedRead {
    uint32_t place;
    HeldValue key, value;
    bool by_late_writer;  // one of unknown outcome wrote the value
  };

  History history;
  std::vector<uint32_t>
      members;  // indexed by transaction: its place among the members; kNone: the state before
  std::vector<Rival> rivals = {};  // of all keys; in the order of their transactions
  // Numbers of late transactions whose value a member read: they precede the window, without their
  // reads.
  std::vector<uint64_t> late = {};
  // The places, in order, of members some of whose observations are left out because transactions
  // to come may explain them.
  std::vector<uint32_t> open = {};
  std::vector<UnexplainedRead> unexplained = {};

  // Only set by projection_alone(): an observation, in words, that was left out because several
  // transactions wrote its value.
  std::string ambiguous = {};

  bool is_open(uint32_t place) const { return std::ranges::binary_search(open, place); }
};

// The times of members in a window: those of their pieces, the bounds between which they certainly
// ran, or none.
enum class Times : uint8_t { own, certain, none };

struct AfterState {
  Times times = Times::own;
  bool only_sealed = false;  // no others observed anything
};

// The members after the live state. Observations of members that are not sealed are left out if
// transactions not yet reported may explain them.
Result<Window> after_state(std::span<const Member> members, const Past& past, LevelId level,
                           int64_t mark, const AfterState& how);

// The members alone, with those observations all of whose possible writers are among them: a
// projection of the endless history.
Result<Window> projection(std::span<const Member> members, const Past& past, int64_t mark,
                          Times times);

// The known facts about transactions before and after the members.
struct Beyond {
  bool none = false;     // there are no others
  bool deletes = false;  // some of them may have deleted keys
};

// The same if nothing is known about when the others ran: a read proves something if one member
// wrote its value, or if it is the initial one and no member wrote it. This is valid if no
// transaction beyond writes one of these values to the same key.
Result<Window> projection_alone(std::span<const Member> members, const Beyond& beyond);

}  // namespace assay::internal::watch
