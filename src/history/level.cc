#include "assay/level.h"

#include <algorithm>
#include <array>

namespace assay {
namespace {

using enum LevelId;

// One of Adya's levels.
constexpr LevelInfo adya(LevelId id, std::string_view name, std::string_view summary,
                         bool repeatable) {
  return {id, name, "", summary, EventModel::adya, false, false, RealTime::none, repeatable, true};
}

constexpr LevelInfo session_guarantee(LevelId id, std::string_view name, std::string_view alias,
                                      std::string_view summary) {
  return {id, name, alias, summary, EventModel::weak, true, false, RealTime::none, false, true};
}

constexpr LevelInfo kLevels[kLevelCount] = {
    adya(pl_1, "pl-1", "writes of two transactions are not interleaved", false),
    adya(pl_2, "pl-2", "what is read was committed, and information flows one way", false),
    adya(pl_cs, "pl-cs", "and no update of a key is lost", false),
    adya(pl_2_plus, "pl-2+", "and what a transaction depends on it does not miss", true),
    adya(pl_2_99, "pl-2.99", "and no cycle overwrites what somebody read by name", true),
    adya(pl_3, "pl-3", "no cycle of dependencies, predicates included", true),
    session_guarantee(read_your_writes, "read-your-writes", "ryw",
                      "a session sees what it wrote before"),
    session_guarantee(monotonic_reads, "monotonic-reads", "mr",
                      "a session sees what it saw before"),
    session_guarantee(monotonic_writes, "monotonic-writes", "mw",
                      "who sees a write sees what its session wrote before"),
    session_guarantee(writes_follow_reads, "writes-follow-reads", "wfr",
                      "who sees a write sees what its session had read"),
    {read_committed, "read-committed", "rc",
     "reads of one transaction never go back in commit order", EventModel::weak, true, false,
     RealTime::none, false},
    {read_atomic, "read-atomic", "ra", "a transaction is seen whole or not at all",
     EventModel::weak, true, false, RealTime::none},
    {causal, "causal", "cc tcc causal-consistency",
     "what a transaction saw, those who see it see too", EventModel::weak, true, false,
     RealTime::none},
    {prefix, "prefix", "pc prefix-consistency",
     "every transaction reads from a prefix of one commit order", EventModel::split, true, false,
     RealTime::none},
    {adya_si, "adya-si", "asi", "snapshot isolation without session order", EventModel::split,
     false, true, RealTime::none},
    {session_si, "session-si", "si snapshot-isolation",
     "snapshot isolation in which sessions see their own past", EventModel::split, true, true,
     RealTime::none},
    {generalized_si, "generalized-si", "gsi ansi-si",
     "snapshots of the past, commits in real-time order", EventModel::split, false, true,
     RealTime::into_commits},
    {strong_session_si, "strong-session-si", "pcsi",
     "generalized SI in which sessions see their own past", EventModel::split, true, true,
     RealTime::into_commits},
    {strong_si, "strong-si", "", "snapshots hold everything committed before the transaction began",
     EventModel::split, true, true, RealTime::all_but_begins},
    {serializable, "serializable", "", "as if one transaction ran after another (Adya PL-3)",
     EventModel::single, false, false, RealTime::none},
    {session_serializable, "session-serializable", "ser",
     "serializable, each session in its own order", EventModel::single, true, false,
     RealTime::none},
    {strict_serializable, "strict-serializable", "sser",
     "serializable in an order that agrees with real time", EventModel::single, true, false,
     RealTime::transactions},
    {linearizable, "linearizable", "lin", "strict serializable with one operation a transaction",
     EventModel::single, true, false, RealTime::transactions},
};

// Arrows of the lattice, stronger → weaker.
constexpr LevelId kBelowPl2[] = {pl_1};
constexpr LevelId kAbovePl2[] = {pl_2};
constexpr LevelId kAbovePlCs[] = {pl_cs};
constexpr LevelId kBelowPl3[] = {pl_2_plus, pl_2_99};
constexpr LevelId kBelowReadAtomic[] = {read_your_writes, read_committed};
constexpr LevelId kBelowCausal[] = {monotonic_reads, monotonic_writes, writes_follow_reads,
                                    read_atomic};
constexpr LevelId kBelowPrefix[] = {causal};
constexpr LevelId kBelowSessionSi[] = {prefix, adya_si};
constexpr LevelId kBelowAdyaSi[] = {pl_2_plus};
constexpr LevelId kBelowGeneralizedSi[] = {adya_si};
constexpr LevelId kBelowStrongSessionSi[] = {session_si, generalized_si};
constexpr LevelId kBelowStrongSi[] = {strong_session_si};
constexpr LevelId kBelowSerializable[] = {pl_3, adya_si};
constexpr LevelId kBelowSessionSerializable[] = {session_si, serializable};
constexpr LevelId kBelowStrictSerializable[] = {session_serializable};
constexpr LevelId kBelowLinearizable[] = {strict_serializable};

using Closure = std::array<uint32_t, kLevelCount>;  // bit w of [s]: s implies w

Closure close_lattice() {
  Closure closure{};
  for (const LevelInfo& level : kLevels) {  // weaker levels come first, so theirs are complete
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

std::span<const LevelInfo> all_levels() { return kLevels; }

std::span<const LevelInfo> default_levels() {  // the others stand before them
  return std::span(kLevels).subspan(static_cast<size_t>(read_committed));
}

std::optional<LevelId> find_level(std::string_view name) {
  if (name.empty()) return std::nullopt;
  for (const LevelInfo& level : kLevels) {
    if (level.name == name || has_word(level.aliases, name)) return level.id;
  }
  return std::nullopt;
}

std::span<const LevelId> next_weaker(LevelId id) {
  switch (id) {
    case pl_1:
      return {};
    case pl_2:
      return kBelowPl2;
    case pl_cs:
    case read_your_writes:
    case monotonic_reads:
    case monotonic_writes:
    case writes_follow_reads:
    case read_committed:
      return kAbovePl2;
    case pl_2_plus:
    case pl_2_99:
      return kAbovePlCs;
    case pl_3:
      return kBelowPl3;
    case read_atomic:
      return kBelowReadAtomic;
    case causal:
      return kBelowCausal;
    case prefix:
      return kBelowPrefix;
    case adya_si:
      return kBelowAdyaSi;
    case session_si:
      return kBelowSessionSi;
    case generalized_si:
      return kBelowGeneralizedSi;
    case strong_session_si:
      return kBelowStrongSessionSi;
    case strong_si:
      return kBelowStrongSi;
    case serializable:
      return kBelowSerializable;
    case session_serializable:
      return kBelowSessionSerializable;
    case strict_serializable:
      return kBelowStrictSerializable;
    case linearizable:
      return kBelowLinearizable;
  }
  return {};
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

}  // namespace assay
