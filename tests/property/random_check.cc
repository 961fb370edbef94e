// Compares the checker with the oracle on very many random small histories, each decided with switches, engine and
// number of threads drawn at random. Takes minutes to hours; not part of the usual tests. Prints what docs/long-runs.md
// records.
//
//   random_check [HISTORIES [SEED [weak]]]     default 1000000 1; weak: the session guarantees, read committed, read
//                                              atomic and causal alone
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checked.h"
#include "oracle/selftest.h"

namespace assay {
namespace {

struct Kind {
  const char* name;
  uint64_t share;  // of ten
  oracle::RandomShape shape;
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

int run(uint64_t histories, uint64_t seed, std::span<const LevelInfo> levels) {
  Rng ways(seed);
  std::printf("| histories | kind | satisfied | violated | undefined | disagreements |\n");
  std::printf("|---|---|---|---|---|---|\n");
  for (const Kind& kind : kKinds) {
    std::string complaint;
    const auto checker = [&](const History& h) {
      CheckOptions way = random_way(ways);
      for (const LevelInfo& level : levels) way.levels.push_back(level.id);
      return checked(h, &complaint, way);
    };
    const oracle::SelftestResult result =
        oracle::selftest(checker, {.seed = ++seed,
                                   .count = histories * kind.share / 10,
                                   .shape = kind.shape,
                                   .levels = levels});
    uint64_t sums[3] = {};
    for (const auto& level : result.outcomes) {
      for (size_t i = 0; i < 3; ++i) sums[i] += level[i];
    }
    std::printf("| %llu | %s | %llu | %llu | %llu | %s |\n", shown(result.histories), kind.name,
                shown(sums[0]), shown(sums[1]), shown(sums[2]), result.ok() ? "0" : "found");
    std::fflush(stdout);
    if (result.ok()) continue;
    std::printf("\n%s\n%s\n", result.failure.c_str(), complaint.c_str());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  const uint64_t histories = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  const bool weak = argc > 3 && std::string_view(argv[3]) == "weak";
  return assay::run(histories, argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1,
                    weak ? assay::weak_levels() : assay::default_levels());
}
