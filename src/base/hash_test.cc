#include "base/hash.h"

#include <gtest/gtest.h>

#include <set>

namespace assay::internal {
namespace {

// Published: the first number of splitmix64 from seed 0.
TEST(Hash, MixIsSplitmix64) { EXPECT_EQ(mix64(0), 0xE220A8397B1DCDAFull); }

TEST(Hash, NeighboursDifferInAboutHalfTheirBits) {
  int bits = 0;
  for (uint64_t i = 0; i < 1000; ++i) bits += __builtin_popcountll(mix64(i) ^ mix64(i + 1));
  EXPECT_NEAR(bits / 1000.0, 32.0, 1.0);
}

TEST(Hash, BytesAreXxh3) {
  EXPECT_EQ(hash_bytes(""), 0x2D06800538D394C2ull);  // published
  EXPECT_NE(hash_bytes("a"), hash_bytes("b"));
  EXPECT_EQ(hash_bytes(std::string(100, 'x')), hash_bytes(std::string(100, 'x')));
}

TEST(Digest, DependsOnBytesAndTheirOrderOnly) {
  const auto digest = [](std::initializer_list<std::string_view> parts) {
    Digest d;
    for (const std::string_view part : parts) d.add(part.data(), part.size());
    return d.hex();
  };
  EXPECT_EQ(digest({}), "99aa06d3014798d86001c324468d497f");  // published: XXH3, 128 bits, no input
  EXPECT_EQ(digest({"ab", "c"}), digest({"a", "bc"}));
  const std::set<std::string> all = {digest({"abc"}), digest({"acb"}), digest({"ab"}), digest({})};
  EXPECT_EQ(all.size(), 4u);
  for (const std::string& hex : all) EXPECT_EQ(hex.size(), 32u);
}

}  // namespace
}  // namespace assay::internal
