// Ids are those of a map, whatever mixture of small and large integers, texts and nulls comes in
// whatever order.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "assay/history.h"
#include "base/rng.h"

namespace assay::internal {
namespace {

// An integer of one of several magnitudes, a text or, of a value, null.
ValueView drawn(Rng& rng, std::vector<std::string>& texts, bool nullable) {
  const int64_t magnitude = int64_t{1} << rng.below(20);
  switch (rng.below(8)) {
    case 0:
      texts.push_back("t" + std::to_string(rng.below(50)));
      return ValueView::of(std::string_view(texts.back()));
    case 1:
      return nullable ? ValueView::null() : ValueView::of(-rng.between(1, magnitude));
    case 2:
      return ValueView::of(std::numeric_limits<int64_t>::max() - rng.between(0, 3));
    case 3:
      return ValueView::of(std::numeric_limits<int64_t>::min() + rng.between(0, 3));
    default:
      return ValueView::of(rng.between(0, magnitude));
  }
}

TEST(ValueTables, IdsAreThoseOfAMap) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    Rng rng(seed);
    std::map<std::string, KeyId> keys;
    std::map<std::pair<std::string, std::string>, VersionId> versions;
    HistoryBuilder b;
    std::vector<KeyId> want_keys;
    std::vector<VersionId> want_versions;
    const auto spelt = [](const ValueView& v) {
      return std::to_string(static_cast<int>(v.type)) + v.to_string();
    };
    for (int txn = 0; txn < 60; ++txn) {
      std::vector<std::string> texts;
      texts.reserve(400);
      b.begin_txn({.session = ValueView::of(int64_t{1})});
      for (uint64_t ops = rng.below(200); ops > 0; --ops) {
        const ValueView key = drawn(rng, texts, false), value = drawn(rng, texts, true);
        b.add(Op::read(key, value));
        want_keys.push_back(keys.emplace(spelt(key), keys.size()).first->second);
        want_versions.push_back(
            versions.emplace(std::pair(spelt(key), spelt(value)), versions.size()).first->second);
      }
      ASSERT_TRUE(b.end_txn().ok());
    }
    const auto h = std::move(b).finish();
    ASSERT_TRUE(h.ok());
    ASSERT_EQ(h->op_count(), want_keys.size());
    for (OpId i = 0; i < h->op_count(); ++i) {
      ASSERT_EQ(h->op(i).key, want_keys[i]) << seed;
      ASSERT_EQ(h->op(i).version, want_versions[i]) << seed;
    }
    EXPECT_EQ(h->key_count(), keys.size());
    EXPECT_EQ(h->version_count(), versions.size());
    for (const auto& [pair, id] : versions) {
      EXPECT_EQ(spelt(h->version_value(id)), pair.second);
      EXPECT_EQ(spelt(h->key(h->version_key(id))), pair.first);
    }
  }
}

}  // namespace
}  // namespace assay::internal
