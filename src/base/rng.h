// Seeded random numbers: the same seed gives the same numbers on every machine and in every build.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace assay::internal {

// xoshiro256** by Blackman and Vigna, seeded through splitmix64. Not for secrets.
class Rng {
 public:
  explicit Rng(uint64_t seed = 1);

  uint64_t next();
  // Uniform in [0, n); 0 for n == 0.
  uint64_t below(uint64_t n);
  // Uniform in [low, high], both inclusive.
  int64_t between(int64_t low, int64_t high);
  // Uniform in [0, 1).
  double unit();
  // True with the given probability.
  bool chance(double probability) { return unit() < probability; }
  // Exponentially distributed with the given mean.
  double exponential(double mean);
  // An independent generator; two splits with different salts never share numbers.
  Rng split(uint64_t salt);

 private:
  std::array<uint64_t, 4> state_;
};

enum class Distribution : uint8_t { uniform, zipfian, hotspot, exponential };
std::string_view distribution_name(Distribution d);
std::optional<Distribution> find_distribution(std::string_view name);

// Draws ranks 0 … n-1, rank 0 the most popular. Constant time and memory for every n.
//   uniform
//   zipfian      rank i with weight 1 / (i+1)^skew, skew 0.99 by default
//   hotspot      80 % of the draws fall on the first 20 % of the ranks
//   exponential  density falls by e every n/10 ranks
class Ranks {
 public:
  static constexpr double kZipfianSkew = 0.99;
  Ranks(Distribution distribution, uint64_t n, double skew = kZipfianSkew);
  uint64_t draw(Rng& rng) const;
  uint64_t size() const { return n_; }

 private:
  uint64_t draw_zipfian(Rng& rng) const;

  Distribution distribution_;
  uint64_t n_;
  uint64_t hot_;
  double skew_;
  // Rejection-inversion: the integral of the density up to the last and from the first rank, and
  // the width within which no rejection is needed.
  double h_last_ = 0;
  double h_first_ = 0;
  double shortcut_ = 0;
};

}  // namespace assay::internal
