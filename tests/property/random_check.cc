// Compares the checker with the oracle on very many random small histories, each decided with
// speed-ups, engine and number of threads drawn at random. Takes minutes to hours; not part of the
// usual tests. Prints what bench/results/2026-11-29-long-runs.md records.
//
//   random_check [HISTORIES [SEED [weak|kinds [WORD]]]]     default 1000000 1
//
// weak: the session guarantees, read committed, read atomic and causal alone. kinds: this many
// histories of each kind of operation, and of stated orders, at every level, all together and now
// and then one of them alone; what is left open though the oracle decides it is counted, what the
// verifier refuses is a disagreement. With a word, only kinds whose name has it, and where it is a
// whole name, only that kind; a kind's histories are the same, whichever others are run.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/format.h"
#include "checked.h"
#include "oracle/selftest.h"

namespace assay::internal {
namespace {

struct Kind {
  const char* name;
  uint64_t share;  // of ten
  RandomShape shape;
};

const Kind kOperations[] = {
    {"registers", 10, {}},
    {"values written twice", 10, {.duplicates = 1}},
    {"lists", 10, {.duplicates = 0.1, .lists = 1}},
    {"deletes, inserts, comparisons, ranges", 10, {.duplicates = 0.1, .rich = 1}},
    {"single operations, timed",
     10,
     {.max_txns = 9, .max_keys = 2, .timed = 1, .rich = 0.5, .single_op = 1}},
    {"registers with stated orders", 10, {.ordered = 1}},
    {"lists with loosely stated orders", 10, {.duplicates = 0.2, .lists = 1, .loose = 1}},
    {"all operations with loosely stated orders", 10, {.duplicates = 0.2, .rich = 1, .loose = 1}},
    {"orders that name transactions",
     10,
     {.duplicates = 0.7, .rich = 0.5, .loose = 1, .named = 0.9, .complete = 0.4}},
    {"whole orders that name transactions",
     10,
     {.duplicates = 0.7, .rich = 0.5, .ordered = 1, .named = 0.9, .complete = 0.4}},
    {"lists with orders that name transactions",
     10,
     {.duplicates = 0.5, .lists = 1, .loose = 1, .named = 0.9, .complete = 0.4}},
    {"conditions", 10, {.rich = 1, .predicates = 0.7}},
    {"conditions, values written twice, stated orders",
     10,
     {.duplicates = 0.4, .rich = 1, .predicates = 0.6, .ordered = 0.6, .loose = 0.3, .named = 0.9}},
    {"aggregates, conditions", 10, {.rich = 1, .predicates = 0.7, .aggregates = 0.7}},
    {"aggregates, values written twice, stated orders",
     10,
     {.duplicates = 0.4,
      .rich = 1,
      .predicates = 0.7,
      .aggregates = 0.7,
      .ordered = 0.6,
      .loose = 0.3,
      .named = 0.9}},
    {"reads that state their sources", 10, {.duplicates = 1, .sourced = 1}},
    {"all operations, reads that state their sources",
     10,
     {.duplicates = 0.7, .rich = 1, .loose = 0.3, .named = 0.9, .sourced = 1}},
    {"single operations, reads that state their sources",
     10,
     {.max_txns = 9,
      .max_keys = 2,
      .timed = 1,
      .duplicates = 1,
      .rich = 0.3,
      .sourced = 1,
      .single_op = 1}},
    {"initial values of their own", 10, {.own_initial = 1}},
    {"all operations, initial values of their own",
     10,
     {.duplicates = 0.3, .rich = 1, .own_initial = 1}},
    {"conditions, aggregates, initial values of their own",
     10,
     {.duplicates = 0.3, .rich = 1, .predicates = 0.7, .aggregates = 0.4, .own_initial = 1}},
    {"stated orders and sources, initial values of their own",
     10,
     {.duplicates = 0.5,
      .rich = 0.6,
      .predicates = 0.4,
      .ordered = 0.6,
      .loose = 0.3,
      .named = 0.9,
      .sourced = 0.5,
      .own_initial = 1}},
    {"single operations, initial values of their own",
     10,
     {.max_txns = 9, .max_keys = 2, .timed = 1, .rich = 0.5, .own_initial = 1, .single_op = 1}},
};

const Kind kKinds[] = {
    {"up to 7 transactions of 4 operations, 3 keys", 6, {}},
    {"up to 9 of 2, 2 keys", 2, {.max_sessions = 6, .max_txns = 9, .max_keys = 2, .max_ops = 2}},
    {"up to 9 of 6, 4 keys", 1, {.max_sessions = 5, .max_txns = 9, .max_keys = 4, .max_ops = 6}},
    {"up to 9 of 1, 2 keys, timed", 1, {.max_txns = 9, .max_keys = 2, .timed = 1, .single_op = 1}},
};

unsigned long long shown(uint64_t n) { return n; }

std::span<const LevelInfo> weak_levels() {
  const auto weak = [](const LevelInfo& level) { return level.events == EventModel::weak; };
  const std::span<const LevelInfo> all = all_levels();
  const auto first = std::find_if(all.begin(), all.end(), weak);
  return {first, std::find_if_not(first, all.end(), weak)};
}

// How much of what the oracle decides was left open at the level where that is most, of those of
// which this is true.
template <class Counts>
std::string most_left_open(const oracle::SelftestResult& result, Counts counts) {
  std::string_view most = "nothing";
  double share = 0;
  for (const LevelInfo& level : all_levels()) {
    const auto i = static_cast<size_t>(level.id);
    if (!counts(level) || result.abstained[i] == 0) continue;
    const double own = static_cast<double>(result.abstained[i]) /
                       static_cast<double>(result.outcomes[i][0] + result.outcomes[i][1]);
    if (own <= share) continue;
    share = own;
    most = level.name;
  }
  char text[16] = "";
  if (share > 0) std::snprintf(text, sizeof text, " %.2f %%", 100 * share);
  return std::string(most) + text;
}

int run(std::span<const Kind> kinds, uint64_t histories, uint64_t seed,
        std::span<const LevelInfo> levels, bool alone, std::string_view word = {}) {
  std::printf(
      "| histories | kind | satisfied | violated | undefined | left open | of weak levels at most "
      "| "
      "of those with orders | disagreements |\n");
  std::printf("|---|---|---|---|---|---|---|---|---|\n");
  const bool whole =
      std::ranges::any_of(kinds, [&](const Kind& kind) { return kind.name == word; });
  for (const Kind& kind : kinds) {
    ++seed;
    const std::string_view name = kind.name;
    if (whole ? name != word : name.find(word) == std::string_view::npos) continue;
    Rng ways(~seed);
    std::string complaint, refused;
    const auto checker = [&](const History& h) {
      CheckOptions way = random_way(ways);
      for (const LevelInfo& level : levels) way.levels.push_back(level.id);
      oracle::Verdicts verdicts = checked(h, &complaint, way);
      if (alone &&
          ways.chance(0.5)) {  // one of them by itself again, whose verdict is judged in its place
        way.levels = {levels[ways.below(levels.size())].id};
        const auto only = static_cast<size_t>(way.levels[0]);
        const Outcome found = checked(h, &complaint, way)[only];
        if (found != Outcome::unknown) verdicts[only] = found;
      }
      if (!complaint.empty() && refused.empty()) {
        refused = complaint;
        if (!write_history_text(h, "hist", refused).ok()) refused += "(not written)";
      }
      return verdicts;
    };
    const oracle::SelftestResult result =
        oracle::selftest(checker, {.seed = seed,
                                   .count = histories * kind.share / 10,
                                   .shape = kind.shape,
                                   .levels = levels,
                                   .may_abstain = alone});
    uint64_t sums[3] = {};
    for (const auto& level : result.outcomes) {
      for (size_t i = 0; i < 3; ++i) sums[i] += level[i];
    }
    const uint64_t open =
        std::accumulate(result.abstained.begin(), result.abstained.end(), uint64_t{0});
    const std::string weak = most_left_open(
        result, [](const LevelInfo& level) { return level.events == EventModel::weak; });
    const std::string strong = most_left_open(result, [](const LevelInfo& level) {
      return level.events != EventModel::weak && level.events != EventModel::adya;
    });
    std::printf("| %llu | %s | %llu | %llu | %llu | %llu | %s | %s | %s |\n",
                shown(result.histories), kind.name, shown(sums[0]), shown(sums[1]), shown(sums[2]),
                shown(open), weak.c_str(), strong.c_str(),
                result.ok() && refused.empty() ? "0" : "found");
    std::fflush(stdout);
    if (result.ok() && refused.empty()) continue;
    std::printf("\n%s\n%s\n%s\n", result.failure.c_str(), complaint.c_str(), refused.c_str());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace assay::internal

int main(int argc, char** argv) {
  const uint64_t histories = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const std::string_view what = argc > 3 ? argv[3] : "";
  if (what == "kinds")
    return assay::internal::run(assay::internal::kOperations, histories, seed, assay::all_levels(),
                                true, argc > 4 ? argv[4] : "");
  return assay::internal::run(
      assay::internal::kKinds, histories, seed,
      what == "weak" ? assay::internal::weak_levels() : assay::default_levels(), false);
}
