// What comparisons with all executions of small histories do not reach.
#include "predict/boundary_search.h"

#include <gtest/gtest.h>

#include "assay/format.h"

namespace assay::internal::predict {
namespace {

OtherSources found_in(const char* text, uint64_t effort = 0) {
  auto read = read_history_text(text, "test", {.from = "hist"});
  EXPECT_TRUE(read.ok());
  Budget budget(0, 0, effort);
  auto found = find_other_sources(read->history, LevelId::causal, budget);
  EXPECT_TRUE(found.ok());
  return std::move(*found);
}

// A and B write x, C and D write y. Whichever of A and B is first, and of C and D, two readers are
// in each other's way; but no two transactions have an order that everything else implies.
TEST(BoundarySearch, NoCycleHasToFollow) {
  const OtherSources found = found_in(
      "s1: { w(x,1) w(a,1) }\ns2: { w(x,2) w(b,1) }\n"
      "s3: { w(y,1) w(c,1) }\ns4: { w(y,2) w(d,1) }\n"
      "s5: { r(x,1) r(c,1) r(d,1) }\ns6: { r(x,2) r(c,1) r(d,1) }\n"
      "s7: { r(y,1) r(a,1) r(b,1) }\ns8: { r(y,2) r(a,1) r(b,1) }\n");
  ASSERT_TRUE(found.stops.has_value());
  EXPECT_TRUE(found.stops->cuts.empty());
  EXPECT_EQ(found.allowed, 1u);
}

TEST(BoundarySearch, FewestChangesFirst) {
  const OtherSources found = found_in(
      "s1: { w(x,1) } { w(y,1) r(x,1) r(z,null) }\ns2: { w(z,2) r(x,1) r(y,1) } { w(x,3) }\n");
  ASSERT_TRUE(found.stops.has_value());
  ASSERT_EQ(found.stops->cuts.size(), 1u);
  EXPECT_EQ(found.stops->cuts[0].sources.size(), 1u);
}

TEST(BoundarySearch, GivesUp) {
  const OtherSources found = found_in("s1: { w(x,1) }\ns2: { r(x,1) r(y,null) } { r(x,1) }\n", 2);
  EXPECT_FALSE(found.complete);
  EXPECT_EQ(found.reason, "the effort limit of 2 was reached");
}

}  // namespace
}  // namespace assay::internal::predict
