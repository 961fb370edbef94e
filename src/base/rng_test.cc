#include "base/rng.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace assay::internal {
namespace {

TEST(Rng, SameSeedSameNumbersOtherSeedOthers) {
  Rng a(7), b(7), c(8);
  std::set<uint64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t x = a.next();
    EXPECT_EQ(x, b.next());
    EXPECT_NE(x, c.next());
    seen.insert(x);
  }
  EXPECT_EQ(seen.size(), 1000u);
}

TEST(Rng, FirstNumbersStayTheSameForEver) {
  // Histories are named by their seed in reports, so this must not change between releases.
  Rng rng(1);
  const uint64_t first = rng.next();
  const uint64_t second = rng.next();
  EXPECT_EQ(first, 0xb3f2af6d0fc710c5u);
  EXPECT_EQ(second, 0x853b559647364ceau);
}

TEST(Rng, BelowIsEvenAndInRange) {
  Rng rng(3);
  std::vector<int> count(7);
  for (int i = 0; i < 70000; ++i) ++count[rng.below(7)];
  for (int c : count) EXPECT_NEAR(c, 10000, 500);
  EXPECT_EQ(rng.below(0), 0u);
  EXPECT_EQ(rng.below(1), 0u);
  for (int i = 0; i < 1000; ++i) EXPECT_LT(rng.below(~0ull), ~0ull);
}

TEST(Rng, BetweenReachesBothEnds) {
  Rng rng(4);
  std::set<int64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(rng.between(-2, 2));
  EXPECT_EQ(seen, (std::set<int64_t>{-2, -1, 0, 1, 2}));
  rng.between(INT64_MIN, INT64_MAX);
}

TEST(Rng, ExponentialHasItsMean) {
  Rng rng(5);
  double sum = 0;
  for (int i = 0; i < 100000; ++i) sum += rng.exponential(3);
  EXPECT_NEAR(sum / 100000, 3, 0.1);
}

TEST(Rng, SplitsAreIndependent) {
  Rng parent(1);
  Rng a = parent.split(0), b = parent.split(1);
  EXPECT_NE(a.next(), b.next());
}

std::vector<double> shares(Distribution d, uint64_t n, double skew = Ranks::kZipfianSkew) {
  Rng rng(11);
  const Ranks ranks(d, n, skew);
  std::vector<double> share(n);
  constexpr int kDraws = 200000;
  for (int i = 0; i < kDraws; ++i) share.at(ranks.draw(rng)) += 1.0 / kDraws;
  return share;
}

TEST(Ranks, ZipfianFollowsItsWeights) {
  for (double skew : {0.5, 0.99, 1.0, 1.5}) {
    double total = 0;
    for (int i = 1; i <= 100; ++i) total += std::pow(i, -skew);
    const std::vector<double> share = shares(Distribution::zipfian, 100, skew);
    for (int i : {0, 1, 2, 5, 20, 99})
      EXPECT_NEAR(share[i], std::pow(i + 1, -skew) / total, 0.005) << skew << " rank " << i;
  }
}

TEST(Ranks, HotspotPutsFourFifthsOnAFifth) {
  const std::vector<double> share = shares(Distribution::hotspot, 10);
  EXPECT_NEAR(share[0] + share[1], 0.8, 0.01);
  EXPECT_NEAR(share[9], 0.025, 0.005);
}

TEST(Ranks, ExponentialFallsByEEveryTenth) {
  const std::vector<double> share = shares(Distribution::exponential, 10);
  EXPECT_NEAR(share[1] / share[0], std::exp(-1), 0.02);
  EXPECT_NEAR(share[2] / share[1], std::exp(-1), 0.03);
}

TEST(Ranks, UniformIsEven) {
  for (double s : shares(Distribution::uniform, 5)) EXPECT_NEAR(s, 0.2, 0.01);
}

TEST(Ranks, TinyAndHugeSizesStayInRange) {
  Rng rng(2);
  for (Distribution d : {Distribution::uniform, Distribution::zipfian, Distribution::hotspot,
                         Distribution::exponential}) {
    for (uint64_t n : {uint64_t{0}, uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{1} << 40}) {
      const Ranks ranks(d, n);
      for (int i = 0; i < 1000; ++i) EXPECT_LT(ranks.draw(rng), std::max<uint64_t>(n, 1));
    }
    EXPECT_EQ(find_distribution(distribution_name(d)), d);
  }
  EXPECT_FALSE(find_distribution("gaussian"));
}

}  // namespace
}  // namespace assay::internal
