// Zipfian ranks by rejection-inversion (W. Hörmann, G. Derflinger: Rejection-inversion to generate
// variates from monotone discrete distributions, 1996): invert the integral of the continuous
// density x^-skew and reject the little that lies outside the staircase. No table, about one try
// per draw.
#include "base/rng.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/hash.h"

namespace assay::internal {
namespace {

constexpr double kHotShareOfDraws = 0.8;
constexpr double kHotShareOfRanks = 0.2;
constexpr double kExponentialMeanShare = 0.1;

constexpr std::string_view kNames[] = {"uniform", "zipfian", "hotspot", "exponential"};

// (exp(x) - 1) / x and log(1 + x) / x, continuous at 0.
double expm1_over(double x) { return std::abs(x) > 1e-8 ? std::expm1(x) / x : 1 + x / 2; }
double log1p_over(double x) { return std::abs(x) > 1e-8 ? std::log1p(x) / x : 1 - x / 2; }

double zipf_density(double x, double skew) { return std::exp(-skew * std::log(x)); }

// The integral of t^-skew from 1 to x, and its inverse.
double zipf_integral(double x, double skew) {
  const double log_x = std::log(x);
  return expm1_over((1 - skew) * log_x) * log_x;
}
double zipf_integral_inverse(double area, double skew) {
  const double t = std::max((1 - skew) * area, -1.0);
  return std::exp(log1p_over(t) * area);
}

}  // namespace

Rng::Rng(uint64_t seed) {
  for (uint64_t i = 0; i < state_.size(); ++i) state_[i] = mix64(seed + i * 0x9E3779B97F4A7C15ull);
}

uint64_t Rng::next() {
  const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

uint64_t Rng::below(uint64_t n) {
  if (n == 0) return 0;
  // The high half of a 128-bit product; draws in the uneven rest are discarded.
  __extension__ using Wide = unsigned __int128;
  Wide product = Wide{next()} * n;
  if (static_cast<uint64_t>(product) < n) {
    const uint64_t uneven = (0 - n) % n;
    while (static_cast<uint64_t>(product) < uneven) product = Wide{next()} * n;
  }
  return static_cast<uint64_t>(product >> 64);
}

int64_t Rng::between(int64_t low, int64_t high) {
  const uint64_t width = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;
  const uint64_t offset = width == 0 ? next() : below(width);
  return static_cast<int64_t>(static_cast<uint64_t>(low) + offset);
}

double Rng::unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

double Rng::exponential(double mean) { return -mean * std::log1p(-unit()); }

Rng Rng::split(uint64_t salt) { return Rng(mix64(next() ^ mix64(salt))); }

std::string_view distribution_name(Distribution d) { return kNames[static_cast<size_t>(d)]; }

std::optional<Distribution> find_distribution(std::string_view name) {
  const auto* it = std::find(std::begin(kNames), std::end(kNames), name);
  if (it == std::end(kNames)) return std::nullopt;
  return static_cast<Distribution>(it - std::begin(kNames));
}

Ranks::Ranks(Distribution distribution, uint64_t n, double skew)
    : distribution_(distribution),
      n_(std::max<uint64_t>(n, 1)),
      hot_(std::clamp<uint64_t>(static_cast<uint64_t>(static_cast<double>(n_) * kHotShareOfRanks),
                                1, n_)),
      skew_(skew) {
  if (distribution_ != Distribution::zipfian) return;
  h_first_ = zipf_integral(1.5, skew_) - 1;
  h_last_ = zipf_integral(static_cast<double>(n_) + 0.5, skew_);
  shortcut_ = 2 - zipf_integral_inverse(zipf_integral(2.5, skew_) - zipf_density(2, skew_), skew_);
}

uint64_t Ranks::draw_zipfian(Rng& rng) const {
  while (true) {
    const double area = h_last_ + rng.unit() * (h_first_ - h_last_);
    const double x = zipf_integral_inverse(area, skew_);
    const double k = std::clamp(std::floor(x + 0.5), 1.0, static_cast<double>(n_));
    if (k - x <= shortcut_ || area >= zipf_integral(k + 0.5, skew_) - zipf_density(k, skew_))
      return static_cast<uint64_t>(k) - 1;
  }
}

uint64_t Ranks::draw(Rng& rng) const {
  switch (distribution_) {
    case Distribution::uniform:
      return rng.below(n_);
    case Distribution::zipfian:
      return draw_zipfian(rng);
    case Distribution::hotspot:
      if (hot_ == n_ || rng.chance(kHotShareOfDraws)) return rng.below(hot_);
      return hot_ + rng.below(n_ - hot_);
    case Distribution::exponential: {
      // Inverse of the distribution function, cut off after the last rank.
      const double cut = -std::expm1(-1 / kExponentialMeanShare);
      const double x = -kExponentialMeanShare * std::log1p(-rng.unit() * cut);
      return std::min(static_cast<uint64_t>(x * static_cast<double>(n_)), n_ - 1);
    }
  }
  return 0;
}

}  // namespace assay::internal
