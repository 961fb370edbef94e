// The isolation levels and their lattice, as data. Definitions: docs/levels/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace assay {

// Weaker levels come before stronger ones: a level never precedes one that it implies.
enum class LevelId : uint8_t {
  pl_1,
  pl_2,
  pl_cs,
  pl_2_plus,
  pl_2_99,
  pl_3,
  monotonic_atomic_view,
  read_your_writes,
  monotonic_reads,
  monotonic_writes,
  writes_follow_reads,
  read_committed,
  statement_snapshot,
  read_atomic,
  causal,
  prefix,
  adya_si,
  session_si,
  generalized_si,
  strong_session_si,
  strong_si,
  serializable,
  session_serializable,
  strict_serializable,
  linearizable,
  mixed,
  defined,
};
inline constexpr int kLevelCount = 27;

// How a level turns transactions into events; see docs/architecture.md.
//   adya    one event per transaction; the kinds of dependencies on a cycle matter (pl-1 … pl-3)
//   weak    commit order axioms over session order and reads-from (read committed … causal)
//   statements  one event per statement (its reads, and the locks that it takes), and after them w
//               (the writes of the transaction are installed)
//   split   two events per transaction: r (its reads) before w (its writes are installed)
//   single  one event per transaction
//   mixed   each transaction as the level that it declares
enum class EventModel : uint8_t { adya, weak, statements, split, single, mixed };

// Which real-time edges a level adds. "Before" means: response of the one strictly less than the
// request of the other.
//   none
//   into_commits   C→C and B→C            (generalized SI)
//   all_but_begins C→B, C→C and B→C       (strong SI)
//   transactions   end(S) < begin(T): S→T (strict serializability)
enum class RealTime : uint8_t { none, into_commits, all_but_begins, transactions };

// What a level belongs to; also what its group is called on the command line.
//   standard            decided when no level is asked for
//   session_guarantees  one guarantee each, decided when asked for by name
//   adya                Adya's PL levels, and monotonic atomic view, which has no session order
//                       either; decided when asked for by name
//   statements          what databases call READ COMMITTED, decided when asked for by name
//   declared            what transactions declare, or a file defines, decided when asked for; no
//                       level of the lattice
enum class LevelGroup : uint8_t { standard, session_guarantees, adya, statements, declared };

// The levels directly below a level.
struct WeakerLevels {
  static constexpr size_t kMost = 4;

  template <class... Ids>
  constexpr WeakerLevels(Ids... weaker) : ids{weaker...}, count(sizeof...(Ids)) {
    static_assert(sizeof...(Ids) <= kMost);
  }

  LevelId ids[kMost];
  uint8_t count;
};

// Which transactions a transaction has seen at a weak level: those from which a path leads to it
// whose steps spell one of the words. The step s leads from a committed transaction to a later one
// of its session, r from a writer to a transaction that reads from it. A transaction that has seen
// T2 and reads a key from T1, although T2 writes that key too, puts T2 before T1 in the commit
// order.
//
//   s1: A { w(x,1) }   s2: B { r(x,1) }  C { r(x,null) }      rs: C has seen A, which B read from
struct SeenBy {
  std::string_view words[4];
  bool repeated = false;  // a path may also spell any number of these words, one after the other
  bool earlier_reads =
      false;  // a step r counts only if the read comes before the operation that reads the key

  constexpr bool any() const { return !words[0].empty(); }
  bool operator==(const SeenBy&) const = default;
};

// Cycles that one of Adya's levels forbids: they consist of any number of dependencies of the kinds
// in `any`, and one dependency of the kinds in `once` unless that is empty.
struct ForbiddenCycle {
  std::string_view any;
  std::string_view once = {};
  bool one_key = false;  // all dependencies are on the same key

  constexpr bool holds_anti_dependencies() const {
    return !once.empty() || any.find('a') != any.npos;
  }
};

// The order in which the checker visits the levels (src/levels/walk.cc): smaller numbers first, no
// two alike, in steps that leave room. 0: the level is never visited by itself.
struct WalkPlace {
  uint8_t replay;  // while it tries to accept by replay; strong levels, the strongest first
  uint8_t decide;  // while it decides the remaining levels
};

// What decides how much of a history without end can be decided for good at a level
// (src/watch/can_watch.cc).
enum class WatchedBy : uint8_t { nothing, times, timestamps, fences };

// The place of a level in the figure of the lattice; a weaker level of the group is in a lower row,
// which has a larger number.
struct FigurePlace {
  double column;
  double row;
};

// The definition of a level, which has only the properties that this row names. Nothing else in the
// program lists levels, except the independent definitions of the oracle, the verifier and the
// simulated database.
struct LevelInfo {
  LevelId id;
  std::string_view name;          // "session-si": the name in files, flags and JSON
  std::string_view aliases = {};  // blank-separated, e.g. "si snapshot-isolation"
  std::string_view summary;       // one line for --help and reports
  LevelGroup group = LevelGroup::standard;
  EventModel events;
  bool session_order = false;  // session order is an edge
  bool write_conflict =
      false;  // split and statements: writers of one key do not overlap (w→r instead of w→w)
  RealTime real_time = RealTime::none;
  bool repeatable = false;         // all reads of a key by a transaction return the same
  bool single_operations = false;  // defined only if each transaction is one operation on one key
  WatchedBy watched_by = WatchedBy::nothing;
  SeenBy seen = {};  // the axiom of a weak level
  ForbiddenCycle forbidden[4] =
      {};  // the axiom of one of Adya's levels; its unused parts are empty
  WeakerLevels weaker = {};
  WalkPlace walk;
  FigurePlace figure;

  // Whether the level is decided only when it is asked for by name.
  constexpr bool on_request() const { return group != LevelGroup::standard; }
};

const LevelInfo& level_info(LevelId id);
// Every level of the lattice, in the order of LevelId: all but `mixed` and `defined`.
std::span<const LevelInfo> all_levels();
// Every level that can be asked for by name: these and the last two, `mixed` and `defined`.
std::span<const LevelInfo> named_levels();
// The levels that are decided when none is asked for.
std::span<const LevelInfo> default_levels();
// "session-guarantees": what --level takes for all levels of a group.
std::string_view level_group_name(LevelGroup group);
// The levels of a group by its name, or every level if the name is "all"; empty if there is no such
// group.
std::vector<LevelId> level_group(std::string_view name);
// Finds a level by its name or alias, in upper or lower case, with blanks or underscores for
// hyphens: "READ COMMITTED".
std::optional<LevelId> find_level(std::string_view name);
// The level that a transaction is held to that declares this level, where levels are mixed: the
// level with session order, as in docs/levels/mixed.md. nullopt if it cannot be mixed.
std::optional<LevelId> mixable(LevelId declared);
// The levels directly below `id` in the lattice.
std::span<const LevelId> next_weaker(LevelId id);
// True if every history that satisfies `stronger` satisfies `weaker`. Reflexive.
bool implies(LevelId stronger, LevelId weaker);
// The maximal elements of `satisfied` in the lattice, in the order of LevelId.
std::vector<LevelId> strongest(std::span<const LevelId> satisfied);

}  // namespace assay
