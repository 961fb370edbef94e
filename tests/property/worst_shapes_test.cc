// The shapes of histories at which other checkers of linearizability run out of memory or never
// end: hundreds of clients on one key whose requests time out, as etcd's tests record them, and
// many operations on one register of which 1 % have an unknown outcome, as Jepsen's do. Effort and
// memory are kept, no verdict is wrong, and what is not decided says how far it came.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <string>

#include "assay/check.h"
#include "cases.h"
#include "collect/generate.h"
#include "collect/sink.h"

namespace assay::internal {
namespace {

constexpr uint64_t kSeeds = 20;
constexpr uint64_t kMemory = uint64_t{1} << 30;

struct ShapeOfClients {
  std::string_view name;
  uint32_t sessions;
  uint64_t txns;  // of each
  double unknown;
  uint64_t values;  // 0: each is written once
};

// At the full size, `ASSAY_TEST_SCALE=10`, 60,000 and 100,000 operations.
const ShapeOfClients kShapes[] = {
    {"300 clients, 10 % unknown", 300, scaled(20, 5), 0.1, 0},
    {"300 clients, 10 % unknown, 5 values", 300, scaled(20, 5), 0.1, 5},
    {"a register, 1 % unknown", 10, scaled(1000, 100), 0.01, 0},
    {"a register, 1 % unknown, 5 values", 10, scaled(1000, 100), 0.01, 5},
};

History of_shape(const ShapeOfClients& shape, Anomaly bug, uint64_t seed) {
  collect::GenerateOptions options;
  options.level = LevelId::linearizable;
  options.bug = bug;
  options.seed = seed;
  options.sessions = shape.sessions;
  options.txns = shape.txns;
  options.unknown_share = shape.unknown;
  options.workload_options.ops = 1;
  options.workload_options.keys = 1;
  options.workload_options.values = shape.values;
  collect::HistorySink sink;
  EXPECT_TRUE(collect::generate(options, sink).ok());
  return *sink.take();
}

uint64_t most_memory() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<uint64_t>(used.ru_maxrss) * 1024;
}

// Of one history: more than any needs that is decided, and less, where there are too many ways to
// try.
const uint64_t kPlentyOfWays = scaled(50'000'000);
const uint64_t kFewWays = scaled(500'000);

struct Counted {
  std::array<uint64_t, 3> outcomes{};

  uint64_t of(Outcome o) const { return outcomes[static_cast<size_t>(o)]; }
};

Counted decide_all(const ShapeOfClients& shape, Anomaly bug, uint64_t effort) {
  Counted counted;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const History h = of_shape(shape, bug, seed);
    CheckOptions options;
    options.levels = {LevelId::linearizable};
    options.budget = Budget(0, kMemory, effort);
    options.threads = 1;
    const CheckResult result = check(h, options);
    const Verdict& v = result.verdicts.at(0);
    ++counted.outcomes[static_cast<size_t>(v.outcome)];
    if (v.outcome != Outcome::unknown) continue;
    EXPECT_EQ(v.cause, UnknownCause::effort) << shape.name << ": " << v.reason;
    EXPECT_TRUE(v.reason.starts_with("the first ")) << shape.name << ": " << v.reason;
  }
  std::cout << shape.name << ": " << counted.of(Outcome::satisfied) << " satisfied, "
            << counted.of(Outcome::violated) << " violated, " << counted.of(Outcome::unknown)
            << " unknown\n";
  EXPECT_LE(most_memory(), kMemory);
  return counted;
}

TEST(WorstShapes, SoundOnesAreDecided) {
  for (const ShapeOfClients& shape : kShapes) {
    const Counted counted = decide_all(shape, Anomaly::none, kPlentyOfWays);
    EXPECT_EQ(counted.of(Outcome::violated), 0u) << shape.name;
    EXPECT_GE(counted.of(Outcome::satisfied), 18u) << shape.name;
  }
}

TEST(WorstShapes, FaultyOnesAreDecidedWhereEachValueIsWrittenOnce) {
  for (const ShapeOfClients& shape : kShapes) {
    if (shape.values != 0) continue;
    for (const Anomaly bug : {Anomaly::real_time_violation, Anomaly::lost_update}) {
      const Counted counted = decide_all(shape, bug, kPlentyOfWays);
      EXPECT_EQ(counted.of(Outcome::satisfied), 0u) << shape.name;
      EXPECT_GE(counted.of(Outcome::violated), 18u) << shape.name;
    }
  }
}

// Any of the writes of unknown outcome may explain a value that is written again and again: all
// ways to use them are tried, and there are too many.
TEST(WorstShapes, FaultyOnesOfFewValuesKeepTheBudget) {
  for (const ShapeOfClients& shape : kShapes) {
    if (shape.values == 0) continue;
    const Counted counted = decide_all(shape, Anomaly::real_time_violation, kFewWays);
    EXPECT_EQ(counted.of(Outcome::satisfied), 0u) << shape.name;
  }
}

}  // namespace
}  // namespace assay::internal
