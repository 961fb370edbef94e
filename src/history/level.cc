#include "assay/level.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "history/level_name.h"
#include "history/session_levels.h"

namespace assay {
namespace {

using enum LevelId;

constexpr LevelInfo kLevels[] = {
    {.id = pl_1,
     .name = "pl-1",
     .aliases = "read-uncommitted",
     .summary = "writes of two transactions are not interleaved",
     .group = LevelGroup::adya,
     .events = EventModel::adya,
     .forbidden = {{"w"}},
     .walk = {.replay = 0, .decide = 220},
     .figure = {.column = 3.5, .row = 5}},
    {.id = pl_2,
     .name = "pl-2",
     .summary = "reads see only committed, final values, and information flows one way",
     .group = LevelGroup::adya,
     .events = EventModel::adya,
     .forbidden = {{"wr"}},
     .weaker = {pl_1},
     .walk = {.replay = 0, .decide = 210},
     .figure = {.column = 3.5, .row = 4}},
    {.id = pl_cs,
     .name = "pl-cs",
     .aliases = "cursor-stability",
     .summary = "PL-2 in which no update of a key is lost",
     .group = LevelGroup::adya,
     .events = EventModel::adya,
     .forbidden = {{"wr"}, {.any = "w", .once = "a", .one_key = true}},
     .weaker = {pl_2},
     .walk = {.replay = 0, .decide = 200},
     .figure = {.column = 4, .row = 3}},
    {.id = pl_2_plus,
     .name = "pl-2+",
     .aliases = "consistent-view",
     .summary = "PL-2 in which a transaction misses no effect of those it depends on",
     .group = LevelGroup::adya,
     .events = EventModel::adya,
     .repeatable = true,
     .forbidden = {{"wr"}, {.any = "wr", .once = "ap"}},
     .weaker = {pl_cs},
     .walk = {.replay = 0, .decide = 190},
     .figure = {.column = 3, .row = 2}},
    {.id = pl_2_99,
     .name = "pl-2.99",
     .summary = "serializable except for predicates: no cycle with an item anti-dependency",
     .group = LevelGroup::adya,
     .events = EventModel::adya,
     .repeatable = true,
     .forbidden = {{"wr"},
                   {.any = "w", .once = "a", .one_key = true},
                   {.any = "wrap", .once = "a"}},
     .weaker = {pl_cs},
     .walk = {.replay = 0, .decide = 180},
     .figure = {.column = 4, .row = 2}},
    {.id = pl_3,
     .name = "pl-3",
     .summary = "no cycle of dependencies, predicates included",
     .group = LevelGroup::adya,
     .events = EventModel::adya,
     .repeatable = true,
     .forbidden = {{"wrap"}},
     .weaker = {pl_2_plus, pl_2_99},
     .walk = {.replay = 0, .decide = 170},
     .figure = {.column = 3.5, .row = 1}},
    {.id = monotonic_atomic_view,
     .name = "monotonic-atomic-view",
     .aliases = "mav",
     .summary = "read committed without session order: what was seen of a transaction stays seen",
     .group = LevelGroup::adya,
     .events = EventModel::weak,
     .seen = {.words = {"r"}, .earlier_reads = true},
     .weaker = {pl_2},
     .walk = {.replay = 0, .decide = 75},
     .figure = {.column = 3, .row = 3}},
    {.id = read_your_writes,
     .name = "read-your-writes",
     .aliases = "ryw",
     .summary = "a session sees its own earlier writes",
     .group = LevelGroup::session_guarantees,
     .events = EventModel::weak,
     .session_order = true,
     .seen = {.words = {"s"}},
     .weaker = {pl_2},
     .walk = {.replay = 0, .decide = 40},
     .figure = {.column = 3, .row = 6}},
    {.id = monotonic_reads,
     .name = "monotonic-reads",
     .aliases = "mr",
     .summary = "a session never sees less than it has already seen",
     .group = LevelGroup::session_guarantees,
     .events = EventModel::weak,
     .session_order = true,
     .seen = {.words = {"rs"}},
     .weaker = {pl_2},
     .walk = {.replay = 0, .decide = 50},
     .figure = {.column = 4, .row = 6}},
    {.id = monotonic_writes,
     .name = "monotonic-writes",
     .aliases = "mw",
     .summary = "a transaction that sees a write sees the earlier writes of its session",
     .group = LevelGroup::session_guarantees,
     .events = EventModel::weak,
     .session_order = true,
     .seen = {.words = {"sr"}},
     .weaker = {pl_2},
     .walk = {.replay = 0, .decide = 60},
     .figure = {.column = 3, .row = 7}},
    {.id = writes_follow_reads,
     .name = "writes-follow-reads",
     .aliases = "wfr",
     .summary = "a transaction that sees a write sees what its session had read before",
     .group = LevelGroup::session_guarantees,
     .events = EventModel::weak,
     .session_order = true,
     .seen = {.words = {"rr", "rsr"}},
     .weaker = {pl_2},
     .walk = {.replay = 0, .decide = 70},
     .figure = {.column = 4, .row = 7}},
    {.id = read_committed,
     .name = "read-committed",
     .aliases = "rc",
     .summary = "reads of one transaction never go back in commit order",
     .events = EventModel::weak,
     .session_order = true,
     .seen = {.words = {"r"}, .earlier_reads = true},
     .weaker = {monotonic_atomic_view},
     .walk = {.replay = 0, .decide = 30},
     .figure = {.column = 1.5, .row = 7}},
    {.id = statement_snapshot,
     .name = "statement-snapshot",
     .aliases = "mvrc rcsi",
     .summary = "each statement reads one snapshot; writers of a key wait",
     .group = LevelGroup::statements,
     .events = EventModel::statements,
     .session_order = true,
     .write_conflict = true,
     .weaker = {read_your_writes, monotonic_reads, read_committed},
     .walk = {.replay = 0, .decide = 85},
     .figure = {.column = 4, .row = 4}},
    {.id = read_atomic,
     .name = "read-atomic",
     .aliases = "ra",
     .summary = "a transaction is seen whole or not at all",
     .events = EventModel::weak,
     .session_order = true,
     .repeatable = true,
     .seen = {.words = {"s", "r"}},
     .weaker = {read_your_writes, read_committed},
     .walk = {.replay = 0, .decide = 20},
     .figure = {.column = 1.5, .row = 6}},
    {.id = causal,
     .name = "causal",
     .aliases = "cc tcc causal-consistency",
     .summary = "a transaction that sees another also sees everything that it saw",
     .events = EventModel::weak,
     .session_order = true,
     .repeatable = true,
     .seen = {.words = {"s", "r"}, .repeated = true},
     .weaker = {monotonic_reads, monotonic_writes, writes_follow_reads, read_atomic},
     .walk = {.replay = 0, .decide = 10},
     .figure = {.column = 1.5, .row = 5}},
    {.id = prefix,
     .name = "prefix",
     .aliases = "pc prefix-consistency",
     .summary = "every transaction reads from a prefix of one commit order",
     .events = EventModel::split,
     .session_order = true,
     .repeatable = true,
     .weaker = {causal},
     .walk = {.replay = 90, .decide = 80},
     .figure = {.column = 1.5, .row = 4}},
    {.id = adya_si,
     .name = "adya-si",
     .aliases = "asi",
     .summary = "snapshot isolation without session order",
     .events = EventModel::split,
     .write_conflict = true,
     .repeatable = true,
     .weaker = {monotonic_atomic_view, pl_2_plus},
     .walk = {.replay = 80, .decide = 100},
     .figure = {.column = 0.5, .row = 4}},
    {.id = session_si,
     .name = "session-si",
     .aliases = "si snapshot-isolation snapshot repeatable-read",
     .summary = "snapshot isolation in which sessions see their own past",
     .events = EventModel::split,
     .session_order = true,
     .write_conflict = true,
     .repeatable = true,
     .watched_by = WatchedBy::timestamps,
     .weaker = {prefix, adya_si, statement_snapshot},
     .walk = {.replay = 60, .decide = 90},
     .figure = {.column = 1, .row = 3}},
    {.id = generalized_si,
     .name = "generalized-si",
     .aliases = "gsi ansi-si",
     .summary = "snapshots of the past, commits in real-time order",
     .events = EventModel::split,
     .write_conflict = true,
     .real_time = RealTime::into_commits,
     .repeatable = true,
     .weaker = {adya_si},
     .walk = {.replay = 50, .decide = 120},
     .figure = {.column = 2, .row = 3}},
    {.id = strong_session_si,
     .name = "strong-session-si",
     .aliases = "pcsi",
     .summary = "generalized SI in which sessions see their own past",
     .events = EventModel::split,
     .session_order = true,
     .write_conflict = true,
     .real_time = RealTime::into_commits,
     .repeatable = true,
     .weaker = {session_si, generalized_si},
     .walk = {.replay = 40, .decide = 110},
     .figure = {.column = 2, .row = 2}},
    {.id = strong_si,
     .name = "strong-si",
     .aliases = "strong-snapshot-isolation",
     .summary = "snapshots hold everything committed before the transaction began",
     .events = EventModel::split,
     .session_order = true,
     .write_conflict = true,
     .real_time = RealTime::all_but_begins,
     .repeatable = true,
     .watched_by = WatchedBy::timestamps,
     .weaker = {strong_session_si},
     .walk = {.replay = 20, .decide = 130},
     .figure = {.column = 2, .row = 1}},
    {.id = serializable,
     .name = "serializable",
     .summary = "as if transactions ran one after another (Adya PL-3)",
     .events = EventModel::single,
     .repeatable = true,
     .weaker = {pl_3, adya_si},
     .walk = {.replay = 70, .decide = 150},
     .figure = {.column = 0, .row = 3}},
    {.id = session_serializable,
     .name = "session-serializable",
     .aliases = "ser strong-session-serializable",
     .summary = "serializable, each session in its own order",
     .events = EventModel::single,
     .session_order = true,
     .repeatable = true,
     .watched_by = WatchedBy::fences,
     .weaker = {session_si, serializable},
     .walk = {.replay = 30, .decide = 140},
     .figure = {.column = 1, .row = 2}},
    {.id = strict_serializable,
     .name = "strict-serializable",
     .aliases = "sser strong-serializable",
     .summary = "serializable in an order that agrees with real time",
     .events = EventModel::single,
     .session_order = true,
     .real_time = RealTime::transactions,
     .repeatable = true,
     .watched_by = WatchedBy::times,
     .weaker = {session_serializable},
     .walk = {.replay = 10, .decide = 160},
     .figure = {.column = 1, .row = 1}},
    {.id = linearizable,
     .name = "linearizable",
     .aliases = "lin",
     .summary = "strict serializable with one operation a transaction",
     .events = EventModel::single,
     .session_order = true,
     .real_time = RealTime::transactions,
     .repeatable = true,
     .single_operations = true,
     .watched_by = WatchedBy::times,
     .weaker = {strict_serializable},
     .walk = {.replay = 0, .decide = 0},
     .figure = {.column = 1, .row = 0}},
    {.id = mixed,
     .name = "mixed",
     .aliases = "declared",
     .summary = "each transaction at the level that it declares",
     .group = LevelGroup::declared,
     .events = EventModel::mixed,
     .session_order = true,
     .walk = {.replay = 0, .decide = 0},
     .figure = {.column = 0, .row = 0}},
    {.id = defined,  // its definition comes from a file, see History::level
     .name = "defined",
     .summary = "the level of a file: --level FILE.toml",
     .group = LevelGroup::declared,
     .events = EventModel::mixed,
     .session_order = true,
     .walk = {.replay = 0, .decide = 0},
     .figure = {.column = 0, .row = 0}},
};
// A level that is defined elsewhere, spelt as Elle and Adya do, which is none of these levels, and
// the levels here that are next to it.
struct Neighbour {
  std::string_view names;
  std::string_view what;
};
constexpr Neighbour kNeighbours[] = {
    {"update-serializable pl-3u",
     "nearest are pl-2+, which is weaker, and pl-3, which is stronger: its read-only transactions "
     "must agree on one order"},
    {"forward-consistent-view pl-fcv",
     "nearest are pl-2+, which is weaker, and adya-si, which is stronger"},
    {"monotonic-view pl-2l",
     "nearest are pl-2, which is weaker, and pl-2+, which is stronger: it also checks earlier "
     "reads against later dependencies"},
    {"monotonic-snapshot-read pl-msr",
     "nearest are pl-2, which is weaker, and adya-si, which is stronger: its snapshot is one for "
     "the whole "
     "transaction"},
    {"pl-si",
     "nearest is adya-si, which leaves open when transactions take their snapshots; strong-si ties "
     "them to the clock"},
    {"strong-session-snapshot-isolation",
     "Elle's is session-si, snapshot isolation with session order; that of Daudjee and Salem, "
     "whose commits also follow real time, is strong-session-si"},
    {"parallel-snapshot-isolation psi",
     "nearest are causal, which is weaker, and session-si, which is stronger: its snapshots are of "
     "one order for all"},
    {"view-serializable conflict-serializable",
     "nearest are serializable, for which some order of versions has to exist, and pl-3, which "
     "needs it stated"},
    {"strong-session-read-committed strong-session-pl-2",
     "nearest is read-committed, which includes session order, and in which reads of one "
     "transaction never go back"},
    {"strong-read-committed strong-pl-2 strong-consistent-view strong-pl-2+ "
     "strong-read-uncommitted strong-pl-1",
     "the weakest level with real time is generalized-si, which is stronger"},
    {"strong-session-consistent-view strong-session-pl-2+",
     "nearest are pl-2+, which is weaker, and session-si, which is stronger"},
    {"sequential sequential-consistency",
     "where each transaction is one operation it is session-serializable"},
    {"pram",
     "nearest are the session guarantees (--level session-guarantees), which are requested one by "
     "one; examples/levels/pram.toml, for --level, asks for all but the last in one order"},
};

// All rows but `mixed` and `defined`, which say nothing by themselves.
constexpr std::span<const LevelInfo> kLattice = std::span(kLevels).first(std::size(kLevels) - 2);

// Every id has one row, in the order of the ids.
static_assert(std::size(kLevels) == kLevelCount);
static_assert([] {
  for (size_t i = 0; i < kLevelCount; ++i)
    if (static_cast<size_t>(kLevels[i].id) != i) return false;
  return true;
}());
// Weak levels and Adya's have an axiom, and no others have one.
static_assert(std::ranges::all_of(kLevels, [](const LevelInfo& level) {
  return level.seen.any() == (level.events == EventModel::weak) &&
         level.forbidden[0].any.empty() == (level.events != EventModel::adya);
}));
// The closure is computed in a single pass over the rows.
static_assert(std::ranges::all_of(kLattice, [](const LevelInfo& level) {
  return std::all_of(level.weaker.ids, level.weaker.ids + level.weaker.count,
                     [&](LevelId weaker) { return weaker < level.id; });
}));
// The arrows of the figure lead down.
static_assert(std::ranges::all_of(kLattice, [](const LevelInfo& level) {
  return std::all_of(level.weaker.ids, level.weaker.ids + level.weaker.count, [&](LevelId id) {
    const LevelInfo& weaker = kLevels[static_cast<size_t>(id)];
    return weaker.group != level.group || weaker.figure.row > level.figure.row;
  });
}));
// The walk reaches every level: by the level's place, or by the one level below it.
static_assert(std::ranges::all_of(kLattice, [](const LevelInfo& level) {
  return (level.walk.decide == 0) == level.single_operations &&
         (!level.single_operations || level.weaker.count == 1);
}));
static_assert(std::ranges::all_of(kLattice, [](const LevelInfo& level) {
  const bool strong = level.events == EventModel::split || level.events == EventModel::single;
  return (level.walk.replay != 0) == (strong && !level.single_operations);
}));

// Whether no two levels have the same place; `none` may occur many times.
template <class Place>
constexpr bool all_differ(Place place, Place (*of)(const LevelInfo&)) {
  for (const LevelInfo& a : kLattice)
    for (const LevelInfo& b : kLattice)
      if (a.id != b.id && of(a) == of(b) && of(a) != place) return false;
  return true;
}
static_assert(all_differ<uint8_t>(0, [](const LevelInfo& level) { return level.walk.replay; }));
static_assert(all_differ<uint8_t>(0, [](const LevelInfo& level) { return level.walk.decide; }));

using Closure = std::array<uint32_t, kLevelCount>;  // bit w of [s]: s implies w

Closure close_lattice() {
  Closure closure{};
  for (const LevelInfo& level : kLevels) {  // weaker levels come first, so their entries are
                                            // complete
    uint32_t& row = closure[static_cast<size_t>(level.id)];
    row = 1u << static_cast<uint32_t>(level.id);
    for (LevelId weaker : next_weaker(level.id)) row |= closure[static_cast<size_t>(weaker)];
  }
  return closure;
}

bool has_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const size_t blank = words.find(' ');
    if (words.substr(0, blank) == word) return true;
    words.remove_prefix(blank == std::string_view::npos ? words.size() : blank + 1);
  }
  return false;
}

}  // namespace

const LevelInfo& level_info(LevelId id) { return kLevels[static_cast<size_t>(id)]; }

std::span<const LevelInfo> all_levels() { return kLattice; }
std::span<const LevelInfo> named_levels() { return kLevels; }

std::span<const LevelInfo> default_levels() {
  static const std::vector<LevelInfo> levels = [] {
    std::vector<LevelInfo> standard(kLattice.begin(), kLattice.end());
    std::erase_if(standard, [](const LevelInfo& level) { return level.on_request(); });
    return standard;
  }();
  return levels;
}

std::string_view level_group_name(LevelGroup group) {
  switch (group) {
    case LevelGroup::standard:
      return "standard";
    case LevelGroup::session_guarantees:
      return "session-guarantees";
    case LevelGroup::adya:
      return "adya";
    case LevelGroup::statements:
      return "statements";
    case LevelGroup::declared:
      return "declared";
  }
  return "";
}

std::string internal::plain_level_name(std::string_view written) {
  std::string name(written);
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == ' ' || c == '_') c = '-';
  }
  return name;
}

std::string internal::no_level(std::string_view written) {
  const std::string name = plain_level_name(written);
  std::string out = "unknown level '" + std::string(written) + "'";
  for (const Neighbour& neighbour : kNeighbours)
    if (has_word(neighbour.names, name)) out += "; " + std::string(neighbour.what);
  return out;
}

bool internal::is_neighbour(std::string_view written) {
  const std::string name = plain_level_name(written);
  return std::ranges::any_of(kNeighbours, [&](const Neighbour& neighbour) {
    return !name.empty() && has_word(neighbour.names, name);
  });
}

std::vector<LevelId> level_group(std::string_view name) {
  std::vector<LevelId> group;
  for (const LevelInfo& level : kLattice) {
    if (name == "all" || (level.on_request() && name == level_group_name(level.group)))
      group.push_back(level.id);
  }
  return group;
}

std::optional<LevelId> find_level(std::string_view written) {
  const std::string name = internal::plain_level_name(written);
  if (name.empty()) return std::nullopt;
  for (const LevelInfo& level : kLevels) {
    if (level.name == name || has_word(level.aliases, name)) return level.id;
  }
  return std::nullopt;
}

std::span<const LevelId> next_weaker(LevelId id) {
  const WeakerLevels& weaker = level_info(id).weaker;
  return {weaker.ids, weaker.count};
}

bool implies(LevelId stronger, LevelId weaker) {
  static const Closure closure = close_lattice();
  return (closure[static_cast<size_t>(stronger)] >> static_cast<uint32_t>(weaker)) & 1u;
}

std::vector<LevelId> strongest(std::span<const LevelId> satisfied) {
  std::vector<LevelId> result;
  for (LevelId level : satisfied) {
    const bool covered = std::any_of(satisfied.begin(), satisfied.end(), [&](LevelId other) {
      return other != level && implies(other, level);
    });
    if (!covered) result.push_back(level);
  }
  std::sort(result.begin(), result.end());
  return result;
}

std::optional<LevelId> mixable(LevelId declared) {
  const LevelId level = internal::with_sessions(declared);
  const LevelInfo& info = level_info(level);
  const bool axiomatic = info.group == LevelGroup::standard && !info.single_operations;
  if (!axiomatic || !info.session_order || info.real_time != RealTime::none) return std::nullopt;
  return level;
}

LevelId internal::with_sessions(LevelId id) {
  const LevelInfo& own = level_info(id);
  if (own.session_order) return id;
  for (const LevelInfo& other : all_levels())
    if (other.session_order && other.events == own.events && other.seen == own.seen &&
        other.write_conflict == own.write_conflict && other.real_time == own.real_time)
      return other.id;
  return id;
}

uint64_t internal::hashed_as(LevelId level) {
  constexpr uint64_t kStatementSnapshot = 101;
  if (level == statement_snapshot) return kStatementSnapshot;
  return uint64_t{static_cast<uint8_t>(level)} + (level < statement_snapshot ? 1 : 0);
}

}  // namespace assay
