// The names of speed-ups, and what each does, for --without and for the tests that leave them out.
//
//   assay check h.jsonl --without replay,saturation
//
// A speed-up may decide a level sooner, or leave it to the mechanism after it; it never decides a
// level differently. Property tests leave out each by itself and random sets of them, at every
// level. A mechanism without which verdicts would differ is not a speed-up and has no name here.
#include <algorithm>
#include <iterator>

#include "assay/check.h"

namespace assay {
namespace {

using enum SpeedUp;

constexpr SpeedUpInfo kSpeedUps[] = {
    {replay_by_value, "replay-by-value",
     "before reads are matched, replay the values that keys hold (not without replay)"},
    {replay, "replay", "accept by replaying an order proposed from client times"},
    {stated_replay, "stated-replay",
     "in a replay, install a version after those that are stated to precede it"},
    {stated_first, "stated-first",
     "decide the strongest levels first where nearly all orders of versions are stated"},
    {clock_faults, "clock-faults",
     "for those levels, look for dependencies against real time before building a graph"},
    {saturation, "saturation", "derive forced version orders before searching"},
    {anti_dependency_rule, "anti-dependency-rule",
     "in saturation, PolySI's rule for anti-dependencies"},
    {write_dependency_rule, "write-dependency-rule",
     "in saturation, PolySI's rule for write dependencies"},
    {begin_rule, "begin-rule",
     "in saturation, derive orders from begins too, as Viper does, not from commits alone"},
    {combined_writes, "combined-writes",
     "in saturation, Cobra's rule for read-modify-writes (the write-dependency rule includes it)"},
    {closure, "closure", "in saturation, rows of bits where sessions are not chains"},
    {early_search, "early-search", "search the conflicts of the first order before saturating"},
    {lazy_choices, "lazy-choices",
     "order two writers of a key once an order of events is wrong about them, not all at the start "
     "as PolySI and Viper do"},
    {local_search, "local-search",
     "search in the order of time, and backtrack only near a conflict"},
    {update_facts, "update-facts", "order versions by read-modify-writes before searching"},
    {assumed_sessions, "assumed-sessions",
     "at levels without session order, first assume some of it"},
    {zones, "zones", "linearize keys by chains and intervals of values before searching"},
    {decomposition, "decomposition", "decide independent parts of the history separately"},
    {value_beam, "value-beam",
     "where values repeat, first look for an order by the values that keys hold"},
    {narrowing, "narrowing",
     "rule out sources of reads by known edges before searching for an order"},
    {late_rows, "late-rows",
     "of the rows that queries did not return, examine only those that an order contradicts"},
    {rows_in_search, "rows-in-search",
     "examine those during the search for an order, not after each search"},
    {places, "places",
     "where nothing but reads says when events took place, saturate first, in an estimated order"},
    {carry, "carry", "reuse the certificates of one level for its neighbours in the lattice"},
};

static_assert(std::size(kSpeedUps) == kSpeedUpCount);
static_assert([] {
  for (size_t i = 0; i < kSpeedUpCount; ++i)
    if (static_cast<size_t>(kSpeedUps[i].id) != i) return false;
  return true;
}());

}  // namespace

std::span<const SpeedUpInfo> all_speed_ups() { return kSpeedUps; }

std::optional<SpeedUp> find_speed_up(std::string_view name) {
  const auto found = std::ranges::find(kSpeedUps, name, &SpeedUpInfo::name);
  return found == std::end(kSpeedUps) ? std::nullopt : std::optional(found->id);
}

}  // namespace assay
